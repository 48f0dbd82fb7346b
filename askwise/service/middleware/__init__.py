"""What every request passes: size, rate, identity, patience."""
