-- What a run did beside what it said, step by step: the events of the agent without their messages, which the
-- transcript has, and at the end of each turn how the run stood.
CREATE TABLE steps (
  seq INTEGER PRIMARY KEY,
  run TEXT NOT NULL,
  after INTEGER NOT NULL,
  at REAL NOT NULL,
  event TEXT NOT NULL,
  state TEXT
) STRICT;
CREATE INDEX steps_run ON steps (run, seq);
CREATE INDEX transcript_chat ON transcript (chat, seq);
CREATE INDEX runs_chat ON runs (chat, started);
CREATE INDEX runs_started ON runs (started);
CREATE INDEX approvals_run ON approvals (run, asked_at);
