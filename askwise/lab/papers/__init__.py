"""Experiments: one module a paper's part; each registers itself by name."""
