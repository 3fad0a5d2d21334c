-- Processes that share the database, the chats that each works on, and what only one of them does.

-- `beat` is by the server's clock. A fenced node may write no more; see gateway/cluster/node.py.
CREATE TABLE nodes (
  id TEXT COLLATE "C" PRIMARY KEY, name TEXT COLLATE "C" NOT NULL, host TEXT COLLATE "C" NOT NULL, pid BIGINT NOT NULL,
  version TEXT COLLATE "C" NOT NULL, started DOUBLE PRECISION NOT NULL, beat TIMESTAMPTZ NOT NULL,
  draining BOOLEAN NOT NULL DEFAULT FALSE, fenced BOOLEAN NOT NULL DEFAULT FALSE,
  home TEXT COLLATE "C" NOT NULL DEFAULT '', settings TEXT COLLATE "C" NOT NULL DEFAULT '',
  skills TEXT COLLATE "C" NOT NULL DEFAULT ''
);

-- `node` is null while nobody works on the chat; `number` counts the claims.
CREATE TABLE chat_owners (
  chat TEXT COLLATE "C" PRIMARY KEY, node TEXT COLLATE "C", number BIGINT NOT NULL, since TIMESTAMPTZ NOT NULL
);
CREATE INDEX chat_owners_node ON chat_owners (node);

CREATE TABLE leases (
  name TEXT COLLATE "C" PRIMARY KEY, node TEXT COLLATE "C", number BIGINT NOT NULL, since TIMESTAMPTZ NOT NULL
);

-- What is left of one chat is read whenever a node takes it over.
CREATE INDEX inbox_chat_new ON inbox (chat) WHERE state = 'new';
CREATE INDEX outbox_chat_open ON outbox (chat) WHERE state IN ('pending', 'sending');
CREATE INDEX runs_chat_open ON runs (chat) WHERE state = 'running';
CREATE INDEX tasks_chat_open ON tasks (chat) WHERE state IN ('pending', 'running');
CREATE INDEX approvals_chat_open ON approvals (chat) WHERE state = 'pending';
