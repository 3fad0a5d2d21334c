CREATE INDEX runs_person ON runs (person, chat);
