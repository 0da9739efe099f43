"""The calls of the API, one module per subject: handlers first, their declarations at the end."""
