-- `unknown`: attempts to send that may have arrived. `unconfirmed`: given up with its arrival unknown; 1: to be offered
-- again, 2: offered.
ALTER TABLE outbox ADD COLUMN unknown INTEGER NOT NULL DEFAULT 0;
ALTER TABLE outbox ADD COLUMN unconfirmed INTEGER NOT NULL DEFAULT 0;
CREATE INDEX outbox_unconfirmed ON outbox (chat, at) WHERE unconfirmed > 0;
