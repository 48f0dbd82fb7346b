"""The documentation: pages written by hand, and the program that writes the others."""
