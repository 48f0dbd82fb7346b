"""Which task to which worker: labels within a budget (paper 002), and what goes beyond it."""
