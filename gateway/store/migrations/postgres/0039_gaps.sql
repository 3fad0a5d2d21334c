-- 1 while messages before `at` and after it may be unread; then only what reads them moves the mark.
ALTER TABLE read_marks ADD COLUMN gap BIGINT NOT NULL DEFAULT 0;
-- 1 once the home has a marker with the id of the store, where several nodes share it.
ALTER TABLE store ADD COLUMN marked BIGINT NOT NULL DEFAULT 0;
