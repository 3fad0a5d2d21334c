-- The other chats in which a job posts, each with whether it agreed to that.
CREATE TABLE job_targets (
  id TEXT COLLATE "C" PRIMARY KEY, job TEXT COLLATE "C" NOT NULL, chat TEXT COLLATE "C" NOT NULL,
  state TEXT COLLATE "C" NOT NULL CHECK (state IN ('wanted', 'asked', 'open', 'refused', 'gone')),
  why TEXT COLLATE "C" NOT NULL DEFAULT '',
  UNIQUE (job, chat)
);
CREATE INDEX job_targets_chat ON job_targets (chat);
