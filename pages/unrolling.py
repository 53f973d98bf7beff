"""Home."""

from rnnviz.ui import scenes

scenes
