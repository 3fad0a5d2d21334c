-- Words of what users, the agent and its jobs said, for search. `rowid` is the number of the transcript row; the columns
-- hold terms made by `search_terms`, separated by spaces. The text itself is only in the transcript.
CREATE VIRTUAL TABLE said USING fts5 (chat, words, content = '', detail = column, columnsize = 0, tokenize = 'ascii');

-- Rows of the transcript below `before` are not in the index yet.
CREATE TABLE search_progress (before INTEGER NOT NULL) STRICT;
INSERT INTO search_progress SELECT coalesce(max(seq), 0) + 1 FROM transcript;

-- Titles that users gave to sessions.
CREATE TABLE session_titles (
  session TEXT PRIMARY KEY,
  title TEXT NOT NULL
) STRICT, WITHOUT ROWID;
