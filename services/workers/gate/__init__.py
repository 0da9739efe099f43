"""The validation gate: tells a page that was asked for from a wall, an error page or nothing at all."""
