"""Paper 004: which crowd to ask, and when to stop."""
