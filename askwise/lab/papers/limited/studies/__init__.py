"""The experiments of paper 001, and those beyond it; each registers itself by name."""
