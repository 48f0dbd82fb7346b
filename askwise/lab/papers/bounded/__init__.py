"""Paper 003: budgets, prices and limits."""
