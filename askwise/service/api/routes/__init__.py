"""The API, a module a group of routes."""
