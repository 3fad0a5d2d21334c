-- A time of day that names no zone is by the clock of its person, and follows them to another zone.
ALTER TABLE jobs ADD COLUMN is_by_own_clock INTEGER NOT NULL DEFAULT 0;
