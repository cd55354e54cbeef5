"""What the pages about models share."""
