-- Rows of the transcript above `after` are not in the search index yet: they are added several at a time.
ALTER TABLE search_progress ADD COLUMN after BIGINT NOT NULL DEFAULT 0;
UPDATE search_progress SET after = (SELECT coalesce(max(seq), 0) FROM transcript);
