"""SVG in the browser: its pieces, and drawn pictures as files; scripts that the parts join."""
