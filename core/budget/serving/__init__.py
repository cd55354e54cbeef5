"""Memory and speed of answering."""
