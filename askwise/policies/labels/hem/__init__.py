"""``hem``: what it believes, how it ranks, whom it asks."""
