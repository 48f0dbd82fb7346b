"""Pages for people: rendered here, readable without JavaScript, nothing loaded from elsewhere."""
