"""Plans: what a campaign will cost, by simulation, before any money is spent."""
