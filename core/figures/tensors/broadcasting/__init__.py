"""Pictures of the page Broadcasting."""
