"""A run to take away: its weights as safetensors, its training as one plain script."""
