"""Number formats: what the bits mean, and what overflows."""
