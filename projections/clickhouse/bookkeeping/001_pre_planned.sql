-- How far ClickHouse has the log, and which insert is under way. A planned range is here before it is inserted, so that
-- after a crash exactly it is inserted again, under the same token.

CREATE TABLE checkpoints (
    partition integer PRIMARY KEY CHECK (partition >= 0),
    position bigint NOT NULL CHECK (position >= 0),
    next_offset bigint NOT NULL CHECK (next_offset >= 0)
);

CREATE TABLE planned (
    partition integer PRIMARY KEY REFERENCES checkpoints,
    token text NOT NULL,
    from_position bigint NOT NULL,  -- of the last event before the range
    from_offset bigint NOT NULL,  -- where reading it begins
    to_position bigint NOT NULL CHECK (to_position > from_position),  -- of its last event
    to_offset bigint NOT NULL CHECK (to_offset > from_offset)  -- where to go on reading
);
