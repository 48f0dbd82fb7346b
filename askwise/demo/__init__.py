"""The demonstrations: what askwise does, shown on this machine without a key."""
