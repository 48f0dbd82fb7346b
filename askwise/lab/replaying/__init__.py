"""Replay: what policies would have cost and got right on recorded answers."""
