"""A Delta table in a customer's Databricks workspace, written over the SQL Statement Execution API."""
