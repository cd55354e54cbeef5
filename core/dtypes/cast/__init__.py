"""One number put into a format: its neighbours, what is cut off, and why one of them wins."""
