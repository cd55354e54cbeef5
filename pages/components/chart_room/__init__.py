"""On a narrow screen a chart is as wide as its words need."""
