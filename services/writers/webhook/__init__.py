"""The writer of webhooks: signed data deliveries, and notices of the end of a job."""
