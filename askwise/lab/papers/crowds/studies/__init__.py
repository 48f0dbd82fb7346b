"""The experiments of paper 004, and those beyond it; each registers itself by name."""
