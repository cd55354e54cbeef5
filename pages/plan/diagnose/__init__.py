"""Parts of the page Diagnose."""
