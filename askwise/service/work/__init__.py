"""The workers' pages."""
