"""Who is calling: keys, tokens, roles."""
