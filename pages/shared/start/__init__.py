"""What the pages of the start share."""
