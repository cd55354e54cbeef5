"""Pictures of the page Home."""
