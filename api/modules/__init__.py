"""Module jobs as their published API has them: in its words, its shapes and its errors."""
