"""Training a GPT, live."""
