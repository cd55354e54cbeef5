"""Parts of the page Training memory."""
