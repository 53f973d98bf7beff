"""result -> figure: pure, numpy in and a figure out; nothing is shown, nothing is changed. Colours live in theme.py."""
