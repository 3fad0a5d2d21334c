-- The time zone of each account's person, and how it became known: named by them, told by a platform or by their browser.
CREATE TABLE person_zones (
  principal TEXT COLLATE "C" PRIMARY KEY,
  zone TEXT COLLATE "C",
  source TEXT COLLATE "C" NOT NULL,
  is_told BIGINT NOT NULL
);
