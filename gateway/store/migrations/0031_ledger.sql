-- What was used is told by the table `spending` alone.
ALTER TABLE runs DROP COLUMN tokens;
ALTER TABLE runs DROP COLUMN cost_usd;
ALTER TABLE recordings DROP COLUMN cost_usd;
CREATE INDEX spending_run ON spending (run);

-- Runs whose answer is still to be spoken.
CREATE TABLE spoken_answers (
  run TEXT PRIMARY KEY,
  chat TEXT NOT NULL
) STRICT, WITHOUT ROWID;

UPDATE transcript SET message = json_remove(message, '$.cost_usd')
WHERE CASE WHEN json_valid(message) THEN json_extract(message, '$.role') = 'user' ELSE 0 END
  AND message LIKE '%"cost_usd"%';
