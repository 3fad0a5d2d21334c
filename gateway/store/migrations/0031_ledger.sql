-- What was used is told by the table `spending` alone. It takes over the sums of runs that are older than itself, with no
-- person and without the thread, the part of a chat after the third colon.
INSERT INTO spending (id, at, run, chat, person, job, model, tokens, cost, state)
WITH
  old AS (
    SELECT runs.*, instr(chat, ':') AS first FROM runs
    WHERE (tokens > 0 OR cost_usd > 0) AND run NOT IN (SELECT run FROM spending)
  ),
  halved AS (SELECT *, first + instr(substr(chat, first + 1), ':') AS second FROM old),
  parted AS (SELECT *, instr(substr(chat, second + 1), ':') AS third FROM halved)
SELECT
  'run-' || run, started, run, CASE third WHEN 0 THEN chat ELSE substr(chat, 1, second + third - 1) END, '',
  coalesce((SELECT job FROM firings WHERE firings.run = parted.run), ''),
  coalesce(model, ''), tokens, CAST(round(cost_usd * 1e9) AS INTEGER), 'settled'
FROM parted;
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
