"""Browser parts: a folder each, with the .py that mounts it and its .js and .css."""
