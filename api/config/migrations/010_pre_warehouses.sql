-- Customers' own warehouses: what they are set up with, and their secrets, which the API seals and writers open.
CREATE SEQUENCE config.destination_versions;
ALTER TABLE config.destinations
    ADD COLUMN sealed      bytea,                                  -- names org and destination inside too
    ADD COLUMN fingerprint text NOT NULL DEFAULT '' CHECK (fingerprint ~ '^([0-9a-f]{8})?$'),
    ADD COLUMN version     bigint NOT NULL DEFAULT nextval('config.destination_versions');  -- of settings and secrets
