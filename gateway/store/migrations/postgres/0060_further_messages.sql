-- The ids of messages that one send posted besides the first, which the outbox has: the later pictures of an album,
-- each with its place behind the first.
CREATE TABLE further_messages (
  chat TEXT COLLATE "C" NOT NULL, message_id TEXT COLLATE "C" NOT NULL, first TEXT COLLATE "C" NOT NULL,
  place BIGINT NOT NULL,
  PRIMARY KEY (chat, message_id)
);
