-- The newest deliveries to an endpoint, without reading those of all others.

CREATE INDEX deliveries_by_destination ON extraction_deliveries (org_id, destination_id, requested_at DESC);
