"""The API of spider jobs, in the shapes that its published contract has."""
