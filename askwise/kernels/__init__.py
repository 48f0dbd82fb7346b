"""Mathematics that several rooms share: kernels over plain numbers and arrays."""
