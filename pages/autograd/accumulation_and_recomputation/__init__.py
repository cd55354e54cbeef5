"""What is kept for the backward pass, and what it adds to."""
