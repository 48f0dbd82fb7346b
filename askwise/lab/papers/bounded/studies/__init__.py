"""The experiments of paper 003, and those beyond it; each registers itself by name."""
