-- The list of conversations of a surface that has one, such as the page. `owner` is the chat without a thread.
CREATE TABLE conversations (
  chat TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  title TEXT NOT NULL DEFAULT '',
  words TEXT NOT NULL DEFAULT '',
  last REAL NOT NULL,
  answered REAL NOT NULL DEFAULT 0,
  seen REAL NOT NULL DEFAULT 0,
  pinned INTEGER NOT NULL DEFAULT 0,
  deleted REAL
) STRICT, WITHOUT ROWID;
CREATE INDEX conversations_listed ON conversations (owner, pinned, last, chat) WHERE deleted IS NULL;
INSERT INTO conversations (chat, owner, words, last, answered, seen)
SELECT
  chat,
  chat,
  coalesce((
    SELECT substr(json_extract(payload, '$.text'), 1, 80) FROM inbox AS first
    WHERE first.chat = inbox.chat AND json_extract(payload, '$.type') = 'message' ORDER BY seq LIMIT 1
  ), ''),
  max(at),
  max(at),
  max(at)
FROM inbox WHERE chat = 'web:local:main' AND json_valid(payload) GROUP BY chat;
