CREATE TABLE recordings (
    seq INTEGER NOT NULL,
    place INTEGER NOT NULL,
    words TEXT NOT NULL,
    seconds REAL,
    cost_usd REAL,
    model TEXT NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (seq, place)
) STRICT, WITHOUT ROWID;
-- Names the table of a plugin: it was the core's when stores were first made with it, and they all pass through here.
CREATE TABLE voice_notices (person TEXT PRIMARY KEY, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
