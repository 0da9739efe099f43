"""Results of module jobs as files: CSV, JSON and XLSX, written as they are read, a chunk at a time."""
