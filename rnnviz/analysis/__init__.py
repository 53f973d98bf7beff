"""Trace -> result: torch goes in, the frozen numpy results of rnnviz.results come out."""
