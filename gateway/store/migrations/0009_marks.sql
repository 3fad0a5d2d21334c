-- The store's id and its number of transactions, which are also kept in the file store.mark.
ALTER TABLE store ADD COLUMN id TEXT NOT NULL DEFAULT '';
UPDATE store SET id = lower(hex(randomblob(16)));
ALTER TABLE store ADD COLUMN sequence INTEGER NOT NULL DEFAULT 0;
