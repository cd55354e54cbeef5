"""The live chart: the stream that feeds it, and the browser part that draws it."""
