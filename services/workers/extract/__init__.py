"""The extractor: reads typed items from a page as an extractor node asks, and says how good they are."""
