"""Pictures of the page Data and batches."""
