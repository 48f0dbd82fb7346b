"""A whole store in one file, and back."""
