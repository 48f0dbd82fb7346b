"""What requests and replies look like. The campaign decides what is valid beyond the shape."""
