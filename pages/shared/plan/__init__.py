"""What the pages about memory and FLOPs share."""
