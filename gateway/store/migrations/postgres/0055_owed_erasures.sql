-- Rows of a person that a plugin has yet to erase, as it was not there when everything else was: whose, and in which
-- chats, as lists in JSON.
CREATE TABLE owed_erasures (
  plugin TEXT COLLATE "C" NOT NULL,
  who TEXT COLLATE "C" NOT NULL,
  at DOUBLE PRECISION NOT NULL,
  direct TEXT COLLATE "C" NOT NULL,
  shared TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (plugin, who, at)
);
