-- Skills that are loaded in a chat, with their references, as one JSON text.
CREATE TABLE chat_skills (
  chat TEXT PRIMARY KEY,
  shelved TEXT NOT NULL
) STRICT, WITHOUT ROWID;
