"""Pictures of the page Optimizers and schedules."""
