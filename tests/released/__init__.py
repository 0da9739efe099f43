"""What releases left, as it was: nothing here changes with the code of today."""
