"""Paper 000: assured accuracy and truthful payments."""
