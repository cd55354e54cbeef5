"""Which way an optimizer steps, and how far."""
