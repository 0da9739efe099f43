-- A key that was rotated works until it expires; an org may have a rate of calls of its own.
ALTER TABLE config.api_keys ADD COLUMN expires_at timestamptz, ADD COLUMN last_used_at timestamptz;
ALTER TABLE config.orgs ADD COLUMN calls_per_second double precision CHECK (calls_per_second >= 0);
