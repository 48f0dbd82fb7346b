"""Paper 002: which task to which worker."""
