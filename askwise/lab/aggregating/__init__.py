"""Labels out of recorded answers: aggregated, measured, written to files."""
