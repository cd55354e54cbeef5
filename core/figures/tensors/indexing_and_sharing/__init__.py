"""Pictures of the page Indexing and sharing."""
