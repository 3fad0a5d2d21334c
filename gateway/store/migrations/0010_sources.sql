-- Sources of untrusted input, in one line. For tainted rows without sources they are unknown.
ALTER TABLE jobs ADD COLUMN sources TEXT NOT NULL DEFAULT '';
ALTER TABLE firings ADD COLUMN sources TEXT NOT NULL DEFAULT '';
ALTER TABLE tasks ADD COLUMN sources TEXT NOT NULL DEFAULT '';
ALTER TABLE tasks ADD COLUMN report_sources TEXT NOT NULL DEFAULT '';
