"""The steps for SQLite: one numbered script each."""
