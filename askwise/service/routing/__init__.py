"""From an address to the function that answers it: routes, what they take, and their table."""
