"""The ledger: what a campaign's log adds up to, as arrays."""
