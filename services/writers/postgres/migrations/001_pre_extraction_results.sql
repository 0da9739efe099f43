-- One row per job: the newest generation of its extraction. Belongs to this writer, not to the disposable read model.
CREATE TABLE extraction_results (
    id                   uuid NOT NULL UNIQUE,
    org_id               text NOT NULL,
    job_id               text NOT NULL,
    destination_id       text NOT NULL,
    generation           integer NOT NULL CHECK (generation >= 1),
    domain               text NOT NULL,
    schema_id            text NOT NULL,
    data_type            text NOT NULL,
    normalized           jsonb NOT NULL,
    replaced_characters  integer NOT NULL DEFAULT 0, -- NULs and lone surrogates that became U+FFFD
    raw_blob_key         text NOT NULL,
    quality_completeness double precision NOT NULL CHECK (quality_completeness BETWEEN 0 AND 1),
    quality_validation   double precision NOT NULL CHECK (quality_validation BETWEEN 0 AND 1),
    quality_composite    double precision NOT NULL CHECK (quality_composite BETWEEN 0 AND 1),
    latency_ms           bigint NOT NULL,
    delivered_at         timestamptz NOT NULL,
    created_at           timestamptz NOT NULL,
    PRIMARY KEY (org_id, job_id)
);

CREATE INDEX extraction_results_by_domain ON extraction_results (org_id, domain, created_at DESC);
