"""Judges from cheap to expensive, trusted people last, and an error that the whole keeps."""
