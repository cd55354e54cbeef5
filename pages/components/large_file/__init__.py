"""A file that goes to a route of this server, with its progress."""
