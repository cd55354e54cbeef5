"""What engineers hold in their hands, read: an out-of-memory text and what its numbers mean."""
