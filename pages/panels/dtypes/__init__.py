"""Parts of the pages about number formats."""
