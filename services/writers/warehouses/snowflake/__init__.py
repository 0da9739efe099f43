"""A table in a customer's Snowflake account, written with Snowflake's own connector."""
