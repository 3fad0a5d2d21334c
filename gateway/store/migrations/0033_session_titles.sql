-- The chat of a titled session, which has no run yet if nothing was said in it, and when it got its title.
ALTER TABLE session_titles ADD COLUMN chat TEXT;
ALTER TABLE session_titles ADD COLUMN at REAL NOT NULL DEFAULT 0;
UPDATE session_titles SET chat = coalesce(
  (SELECT chat FROM runs WHERE runs.session = session_titles.session LIMIT 1),
  (SELECT chat FROM chats WHERE chats.session = session_titles.session)
);
CREATE INDEX session_titles_chat ON session_titles (chat);
