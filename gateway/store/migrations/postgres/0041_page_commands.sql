-- Commands that visitors of a page give in chats that another node works on, until they are answered.
CREATE TABLE page_commands (
  id TEXT COLLATE "C" PRIMARY KEY, event TEXT COLLATE "C" NOT NULL, at DOUBLE PRECISION NOT NULL,
  taken BIGINT NOT NULL DEFAULT 0, answer TEXT COLLATE "C"
);
