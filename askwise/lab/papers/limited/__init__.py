"""Paper 001: labelling with limited information."""
