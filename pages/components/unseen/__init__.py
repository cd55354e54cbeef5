"""Parts of the frame that draw nothing: for sliders that are dragged and for charts."""
