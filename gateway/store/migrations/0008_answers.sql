-- When a message was posted, by the platform's clock: a plain "yes" answers only messages posted before it.
ALTER TABLE outbox ADD COLUMN said_at REAL;
