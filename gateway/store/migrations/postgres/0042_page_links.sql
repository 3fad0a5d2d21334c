-- The links that sign a browser in and are open, so that each node takes those that another one has given out.
CREATE TABLE page_links (
  digest TEXT COLLATE "C" PRIMARY KEY, principal TEXT COLLATE "C" NOT NULL, person TEXT COLLATE "C" NOT NULL,
  expires DOUBLE PRECISION NOT NULL
);
