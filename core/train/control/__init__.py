"""Who may train, and what a training run is told to do."""
