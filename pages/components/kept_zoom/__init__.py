"""What a reader did to a chart outlives the chart that the next number replaces."""
