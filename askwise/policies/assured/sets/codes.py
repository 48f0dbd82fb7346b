"""Error functions as kernels know them."""

OTHER = -1
"""A user's own function, which kernels can't compute."""

LINEAR, MAJORITY, HOEFFDING, MOST_LIKELY, WEIGHTED = range(5)

MAX_OUTCOMES = 20
"""Up to this many workers all their answers are tried by ``weighted-majority``."""

FORGIVEN = 1e-12
"""An error that exceeds a threshold by this share is rounding."""
