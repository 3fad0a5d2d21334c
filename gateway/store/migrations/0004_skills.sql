-- Skills loaded in a chat, with their references, as JSON.
CREATE TABLE chat_skills (
  chat TEXT PRIMARY KEY,
  shelved TEXT NOT NULL
) STRICT, WITHOUT ROWID;
