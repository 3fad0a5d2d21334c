-- `deaths`: how often the process died in each step of a run, as a JSON object. `rested`: the last process that ran it
-- shut down cleanly.
ALTER TABLE runs ADD COLUMN deaths TEXT NOT NULL DEFAULT '{}';
ALTER TABLE runs ADD COLUMN rested INTEGER NOT NULL DEFAULT 0;
