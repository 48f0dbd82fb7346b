"""Labelling when little is known of the workers: the policies of paper 001."""
