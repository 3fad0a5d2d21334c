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
CREATE TABLE voice_notices (person TEXT PRIMARY KEY, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
