"""Pictures of the page of wrong claims."""
