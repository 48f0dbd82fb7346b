"""Contract suites: what every policy, rule, aggregator and store passes, ours and yours."""
