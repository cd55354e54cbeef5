"""The pictures of Strides and views that Plotly draws: what it costs to read a tensor."""
