"""The two components that draw: chart, for every Plotly figure, and cell, for networks and cells as SVG."""
