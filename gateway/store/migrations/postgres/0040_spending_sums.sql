-- What accounts with a budget have used in a period: a budget is checked, and a call reserved, in one transaction.

-- The node that makes a call; empty for calls from before there were nodes.
ALTER TABLE spending ADD COLUMN node TEXT COLLATE "C" NOT NULL DEFAULT '';

-- `begins` and `ends` are midnights of the installation's time zone. `waited` is true while somebody waits for room.
CREATE TABLE spending_sums (
  scope TEXT COLLATE "C" NOT NULL, subject TEXT COLLATE "C" NOT NULL, begins DOUBLE PRECISION NOT NULL,
  ends DOUBLE PRECISION NOT NULL, tokens BIGINT NOT NULL, cost BIGINT NOT NULL, waited BOOLEAN NOT NULL DEFAULT FALSE,
  PRIMARY KEY (scope, subject, begins, ends)
);
