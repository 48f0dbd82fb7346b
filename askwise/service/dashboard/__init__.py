"""The requesters' pages."""
