"""Learning: steps of a real model, and the tensors that they leave."""
