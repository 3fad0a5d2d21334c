-- The origin of a row's text in one line, see agent_core/origin.py. Where none was recorded it is unknown.
UPDATE jobs SET sources = 'unknown' WHERE tainted <> 0 AND sources = '';
ALTER TABLE jobs RENAME COLUMN sources TO origin;
ALTER TABLE jobs DROP COLUMN tainted;
UPDATE firings SET sources = 'unknown' WHERE untrusted <> 0 AND sources = '';
ALTER TABLE firings RENAME COLUMN sources TO origin;
ALTER TABLE firings DROP COLUMN untrusted;
UPDATE tasks SET sources = 'unknown' WHERE tainted <> 0 AND sources = '';
ALTER TABLE tasks RENAME COLUMN sources TO origin;
ALTER TABLE tasks DROP COLUMN tainted;
UPDATE tasks SET report_sources = 'unknown' WHERE untrusted <> 0 AND report_sources = '';
ALTER TABLE tasks RENAME COLUMN report_sources TO report_origin;
ALTER TABLE tasks DROP COLUMN untrusted;
-- NULL for what was posted earlier.
ALTER TABLE outbox ADD COLUMN origin TEXT;
