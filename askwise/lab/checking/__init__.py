"""Report cards of judges: put into words, written as a page."""
