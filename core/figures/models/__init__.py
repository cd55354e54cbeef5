"""Pictures of the pages on models."""
