"""Pictures of the page This machine."""
