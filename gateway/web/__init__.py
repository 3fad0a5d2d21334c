"""The HTTP server, the page and who may use it."""
