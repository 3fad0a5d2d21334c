-- Since when this store listens: what was said before may have been answered out of another one.
CREATE TABLE store (born REAL NOT NULL) STRICT;
INSERT INTO store SELECT coalesce(min(at), strftime('%s', 'now')) FROM inbox;
