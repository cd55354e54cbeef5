"""The derivative of each kind of node: as LaTeX, and with a node's numbers put in."""
