-- Tables on PostgreSQL whose files hold erased rows until they are rewritten, see gateway/store/rewrites.py. A file is
-- rewritten at once, so here the table stays empty.
CREATE TABLE rewrites (name TEXT PRIMARY KEY, file INTEGER NOT NULL, erased TEXT NOT NULL) STRICT;
