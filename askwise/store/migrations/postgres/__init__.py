"""The steps for PostgreSQL: one numbered script each."""
