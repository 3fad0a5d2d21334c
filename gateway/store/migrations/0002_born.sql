-- When this store was created; earlier messages may have been answered from another store.
CREATE TABLE store (born REAL NOT NULL) STRICT;
INSERT INTO store SELECT coalesce(min(at), strftime('%s', 'now')) FROM inbox;
