"""What can be said of any format: where its numbers lie, what a code means, when it appeared."""
