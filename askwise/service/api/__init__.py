"""The API: routes, the shapes of requests and replies, its description."""
