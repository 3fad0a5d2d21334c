-- Tables whose files hold erased rows until they are rewritten: which file, and the transaction that has erased them.
CREATE TABLE rewrites (name TEXT COLLATE "C" PRIMARY KEY, file BIGINT NOT NULL, erased TEXT COLLATE "C" NOT NULL);
