"""Tables to choose from, with a source for each row: models, devices, precisions, optimizers."""
