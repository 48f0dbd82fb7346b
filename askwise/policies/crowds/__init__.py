"""Paper 004: which crowd to ask."""
