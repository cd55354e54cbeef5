"""Pictures of the page Model sizes and dtypes."""
