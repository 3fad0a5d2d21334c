-- Budgets that people have set; those of the settings are not stored.
CREATE TABLE budgets (
  scope TEXT NOT NULL,
  subject TEXT NOT NULL,
  period TEXT NOT NULL,
  unit TEXT NOT NULL,
  amount INTEGER NOT NULL,
  set_by TEXT NOT NULL,
  set_at REAL NOT NULL,
  PRIMARY KEY (scope, subject, period, unit)
) STRICT, WITHOUT ROWID;

-- Model calls, one row each. `state`: reserved, settled, or estimate if the server did not tell what it used.
-- `cost` is in billionths of a US dollar, `chat` without its thread.
CREATE TABLE spending (
  id TEXT PRIMARY KEY,
  at REAL NOT NULL,
  run TEXT NOT NULL,
  chat TEXT NOT NULL,
  person TEXT NOT NULL,
  job TEXT NOT NULL,
  model TEXT NOT NULL,
  tokens INTEGER NOT NULL,
  cost INTEGER NOT NULL,
  state TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX spending_at ON spending (at);
CREATE INDEX spending_open ON spending (id) WHERE state = 'reserved';
