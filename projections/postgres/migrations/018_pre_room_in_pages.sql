-- Room in each page for what the next events make of its rows: a change that touches no index then stays in its page, and
-- is not written to every index. Pages that are full already stay so; a rebuilt version has the room from the start.

ALTER TABLE jobs SET (fillfactor = 60);
ALTER TABLE extraction_deliveries SET (fillfactor = 80);
