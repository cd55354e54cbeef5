"""What every page uses: one call each."""
