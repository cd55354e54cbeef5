"""Parts of the pages about memory and FLOPs."""
