-- Until when each chat was read without a gap, by the platform's clock; for platforms with a message history.
CREATE TABLE read_marks (
  chat TEXT PRIMARY KEY,
  at REAL NOT NULL,
  person TEXT,
  trouble TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;
INSERT INTO read_marks (chat, at, person)
SELECT
  chat,
  max(json_extract(payload, '$.at')),
  CASE WHEN json_extract(payload, '$.addressed') = 'direct' THEN json_extract(payload, '$.sender.id') END
FROM inbox
WHERE json_valid(payload) AND json_extract(payload, '$.type') = 'message'
GROUP BY chat;
