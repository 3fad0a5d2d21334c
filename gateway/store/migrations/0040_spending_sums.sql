-- On PostgreSQL several processes share budgets, see postgres/0040_spending_sums.sql. A store in a file has one process,
-- which adds up in memory, so here the table stays empty and the column too.
ALTER TABLE spending ADD COLUMN node TEXT NOT NULL DEFAULT '';

CREATE TABLE spending_sums (
  scope TEXT NOT NULL,
  subject TEXT NOT NULL,
  begins REAL NOT NULL,
  ends REAL NOT NULL,
  tokens INTEGER NOT NULL,
  cost INTEGER NOT NULL,
  waited INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (scope, subject, begins, ends)
) STRICT, WITHOUT ROWID;
