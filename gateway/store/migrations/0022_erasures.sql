-- Erasures of what a person said that are complete in this store. A store restored from an older backup lacks them.
CREATE TABLE erasures (
  who TEXT NOT NULL,
  at REAL NOT NULL,
  PRIMARY KEY (who, at)
) STRICT, WITHOUT ROWID;
