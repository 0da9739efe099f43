"""The processes that record, do and deliver jobs."""
