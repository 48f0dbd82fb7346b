"""What paper 004 proves, as printed and as it holds."""
