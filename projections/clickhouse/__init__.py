"""The read model in ClickHouse: the log as one wide table, and views of it."""
