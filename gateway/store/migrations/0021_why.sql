-- What decided about each tool call without asking people: a setting, such as `owner.net`, or a rule.
CREATE TABLE rulings (
  seq INTEGER PRIMARY KEY,
  session TEXT NOT NULL,
  call TEXT NOT NULL,
  at REAL NOT NULL,
  behavior TEXT NOT NULL,
  ruled_by TEXT NOT NULL
) STRICT;
CREATE INDEX rulings_call ON rulings (session, call);

-- The skills that were loaded when the run ended, as a JSON list.
ALTER TABLE runs ADD COLUMN skills TEXT NOT NULL DEFAULT '[]';
