"""What networks are asked to learn."""
