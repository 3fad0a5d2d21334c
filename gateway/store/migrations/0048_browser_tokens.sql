-- Requests of a browser bring a token beside the cookie, which browsers send to all ports of a host; of the token only the
-- digest is kept. Browsers that have none sign in again.
DELETE FROM browsers;
ALTER TABLE browsers ADD COLUMN token_digest TEXT NOT NULL DEFAULT '';
