"""What a training step reads."""
