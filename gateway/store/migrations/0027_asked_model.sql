-- The model that was asked for this run only.
ALTER TABLE runs ADD COLUMN asked_model TEXT;
