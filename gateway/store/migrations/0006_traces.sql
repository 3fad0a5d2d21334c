-- The steps of a run: the agent's events without their messages, which are in the transcript, and the state of the run
-- at the end of each turn.
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
