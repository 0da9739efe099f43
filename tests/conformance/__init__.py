"""What every warehouse has to do, bound by a test of each."""
