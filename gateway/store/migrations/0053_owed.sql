-- Durable work that follows an answer and is still to be done, by the kind of work.
CREATE TABLE owed (
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  chat TEXT NOT NULL,
  data TEXT NOT NULL,
  run TEXT NOT NULL,
  at REAL NOT NULL,
  due REAL NOT NULL,
  attempts INTEGER NOT NULL,
  PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX owed_chat ON owed (chat);

-- Names the work of a plugin, which was the core's: only the core can take what it owed from its own table.
INSERT INTO owed SELECT 'speech', run, chat, '{}', run, 0, 0, 0 FROM spoken_answers;
DROP TABLE spoken_answers;
