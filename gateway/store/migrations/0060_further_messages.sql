-- The ids of messages that one send posted besides the first, which the outbox has: the later pictures of an album,
-- each with its place behind the first.
CREATE TABLE further_messages (
  chat TEXT NOT NULL,
  message_id TEXT NOT NULL,
  first TEXT NOT NULL,
  place INTEGER NOT NULL,
  PRIMARY KEY (chat, message_id)
) STRICT, WITHOUT ROWID;
