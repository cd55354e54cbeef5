"""What the pages about number formats share."""
