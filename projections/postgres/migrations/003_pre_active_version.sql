-- Which version of the read model readers follow; outlives every version.

CREATE SCHEMA IF NOT EXISTS jobledger;

CREATE TABLE IF NOT EXISTS jobledger.active_version (
    read_model text PRIMARY KEY,
    schema_name text NOT NULL,
    since timestamptz NOT NULL DEFAULT now()
);

INSERT INTO jobledger.active_version (read_model, schema_name) VALUES ('postgres', 'ledger_v1') ON CONFLICT DO NOTHING;
