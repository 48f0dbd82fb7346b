"""The experiments of paper 002, and those beyond it; each registers itself by name."""
