-- The platforms that a node cannot reach, by their names with commas between them.
ALTER TABLE nodes ADD COLUMN unreachable TEXT COLLATE "C" NOT NULL DEFAULT '';
