-- Transcripts, and who was told that there are none, belong to a plugin: with who said it where. Where it has rows, its
-- first migration counts as applied, so that `/forget` knows of them while it is off.
-- Names the tables of a plugin: only the core can read those that the rows come from.
CREATE TABLE voice_recordings (
  seq BIGINT NOT NULL,
  place BIGINT NOT NULL,
  chat TEXT COLLATE "C" NOT NULL,
  person TEXT COLLATE "C" NOT NULL,
  words TEXT COLLATE "C" NOT NULL,
  seconds DOUBLE PRECISION,
  model TEXT COLLATE "C" NOT NULL,
  at DOUBLE PRECISION NOT NULL,
  PRIMARY KEY (seq, place)
);
INSERT INTO voice_recordings
SELECT
  recordings.seq, place, coalesce(inbox.chat, ''),
  coalesce(CASE WHEN json_valid(inbox.payload) THEN json_extract(inbox.payload, '$.sender.id') END, ''),
  words, seconds, model, recordings.at
FROM recordings LEFT JOIN inbox ON inbox.seq = recordings.seq;
DROP TABLE recordings;

INSERT INTO plugin_migrations (plugin, number, sql)
SELECT 'voice', 1, '
-- They may be there already, as the core made them before.
CREATE TABLE IF NOT EXISTS voice_recordings (
  seq INTEGER NOT NULL,
  place INTEGER NOT NULL,
  chat TEXT NOT NULL,
  person TEXT NOT NULL,
  words TEXT NOT NULL,
  seconds REAL,
  model TEXT NOT NULL,
  at REAL NOT NULL,
  PRIMARY KEY (seq, place)
);
CREATE TABLE IF NOT EXISTS voice_notices (person TEXT PRIMARY KEY, seq INTEGER NOT NULL);
'
WHERE EXISTS (SELECT 1 FROM voice_recordings) OR EXISTS (SELECT 1 FROM voice_notices);
