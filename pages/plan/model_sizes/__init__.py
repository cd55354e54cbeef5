"""Parts of the page Model sizes and dtypes."""
