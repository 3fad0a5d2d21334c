-- Durable work that follows an answer and is still to be done, by the kind of work.
CREATE TABLE owed (
  kind TEXT COLLATE "C" NOT NULL, key TEXT COLLATE "C" NOT NULL, chat TEXT COLLATE "C" NOT NULL,
  data TEXT COLLATE "C" NOT NULL, run TEXT COLLATE "C" NOT NULL, at DOUBLE PRECISION NOT NULL,
  due DOUBLE PRECISION NOT NULL, attempts BIGINT NOT NULL,
  PRIMARY KEY (kind, key)
);
CREATE INDEX owed_chat ON owed (chat);

-- Names the work of a plugin, which was the core's: only the core can take what it owed from its own table.
INSERT INTO owed SELECT 'speech', run, chat, '{}', run, 0, 0, 0 FROM spoken_answers;
DROP TABLE spoken_answers;
