"""Webhooks: who is told what, the log as outbox, deliveries and their retries."""
