"""The experiments of paper 000, and those beyond it; each registers itself by name."""
