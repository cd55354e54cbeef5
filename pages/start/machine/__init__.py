"""Parts of the page This machine."""
