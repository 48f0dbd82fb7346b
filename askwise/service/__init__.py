"""The live service: campaigns over HTTP, a page for workers, a dashboard for requesters."""
