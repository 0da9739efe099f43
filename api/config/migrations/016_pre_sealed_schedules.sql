-- What is secret of the run of a spider that a schedule submits: the values of its env. `work` has their names alone.
ALTER TABLE config.schedules ADD COLUMN sealed bytea;      -- names org and schedule inside too
