"""Campaigns of people and models, rehearsed before any money is spent: plans of labels."""
