"""Takes out one guard at a time, in a copy of the tree, and sees whether a harness notices."""
