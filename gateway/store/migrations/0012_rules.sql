-- Calls that a user has always allowed in a chat, as long as what they were shown does not change.
CREATE TABLE rules (
  id TEXT PRIMARY KEY,
  chat TEXT NOT NULL,
  person TEXT NOT NULL,
  tool TEXT NOT NULL,
  what TEXT NOT NULL,
  subject TEXT NOT NULL,
  bound TEXT NOT NULL,
  given_by TEXT NOT NULL,
  created REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX rules_subject ON rules (chat, person, subject);

-- For a question: the subject of such a rule, and its state.
ALTER TABLE approvals ADD COLUMN subject TEXT NOT NULL DEFAULT '';
ALTER TABLE approvals ADD COLUMN bound TEXT NOT NULL DEFAULT '';
