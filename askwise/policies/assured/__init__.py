"""A set of workers for each task, so that its answer is as accurate as was asked (paper 000)."""
