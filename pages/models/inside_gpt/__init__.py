"""Inside GPT: a text on its way through a model, up to its next token."""
