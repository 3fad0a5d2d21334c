-- Approval questions about tool calls, and their outcomes.
CREATE TABLE approvals (
  id TEXT PRIMARY KEY,
  run TEXT NOT NULL,
  session TEXT NOT NULL,
  call TEXT NOT NULL,
  chat TEXT NOT NULL,
  person TEXT NOT NULL,
  tool TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  what TEXT NOT NULL,
  language TEXT NOT NULL,
  asked_at REAL NOT NULL,
  expires_at REAL NOT NULL,
  state TEXT NOT NULL DEFAULT 'pending'
    CHECK (state IN ('pending', 'approved', 'used', 'denied', 'expired', 'withdrawn')),
  answered_by TEXT,
  answered_at REAL
) STRICT, WITHOUT ROWID;
CREATE INDEX approvals_call ON approvals (session, call);
CREATE INDEX approvals_open ON approvals (asked_at) WHERE state = 'pending';
