"""``bbta``: paper 002's own policy."""
