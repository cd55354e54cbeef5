"""Pictures of the page Training memory."""
