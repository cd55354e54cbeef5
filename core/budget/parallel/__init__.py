"""A model over many devices: what each holds and what it sends."""
