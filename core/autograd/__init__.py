"""How gradients flow: the graph that torch's engine really runs, captured as plain data."""
