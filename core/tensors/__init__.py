"""Where an element of a tensor lies: layouts and their rules, views, broadcasting, traces."""
