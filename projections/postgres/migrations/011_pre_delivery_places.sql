-- Where the rows of a delivery were written, as its writer said: "schema.table", or NULL: the destination itself.
ALTER TABLE extraction_deliveries ADD COLUMN place text;
