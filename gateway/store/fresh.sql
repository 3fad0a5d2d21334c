-- Made from the migrations by `python -m tests.fresh_store`: change those, and make it anew.
CREATE TABLE inbox (
  seq INTEGER PRIMARY KEY,
  event_id TEXT NOT NULL UNIQUE,
  chat TEXT NOT NULL,
  message_id TEXT,
  payload TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'done')),
  at REAL NOT NULL
) STRICT;
CREATE INDEX inbox_new ON inbox (seq) WHERE state = 'new';
CREATE INDEX inbox_chat ON inbox (chat, seq);
CREATE TABLE runs (
  run TEXT PRIMARY KEY,
  chat TEXT NOT NULL,
  session TEXT NOT NULL,
  person TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'done')),
  reason TEXT,
  error TEXT,
  started REAL NOT NULL,
  reply_to TEXT,
  resumed INTEGER NOT NULL DEFAULT 0,
  ended REAL,
  model TEXT,
  kind TEXT NOT NULL DEFAULT 'chat' CHECK (kind IN ('chat', 'task')), deaths TEXT NOT NULL DEFAULT '{}', rested INTEGER NOT NULL DEFAULT 0, shortened INTEGER NOT NULL DEFAULT 0, skills TEXT NOT NULL DEFAULT '[]', asked_model TEXT) STRICT;
CREATE INDEX runs_open ON runs (started) WHERE state = 'running';
CREATE TABLE transcript (
  seq INTEGER PRIMARY KEY,
  chat TEXT NOT NULL,
  session TEXT NOT NULL,
  run TEXT NOT NULL,
  turn INTEGER NOT NULL,
  message TEXT NOT NULL
) STRICT;
CREATE INDEX transcript_session ON transcript (session, seq);
CREATE INDEX transcript_run ON transcript (run, seq);
CREATE TABLE outbox (
  key TEXT PRIMARY KEY,
  run TEXT NOT NULL,
  chat TEXT NOT NULL,
  body TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'sending', 'sent', 'failed')),
  message_id TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  reason TEXT,
  at REAL NOT NULL
, said_at REAL, unknown INTEGER NOT NULL DEFAULT 0, unconfirmed INTEGER NOT NULL DEFAULT 0, origin TEXT) STRICT, WITHOUT ROWID;
CREATE INDEX outbox_open ON outbox (at) WHERE state IN ('pending', 'sending');
CREATE INDEX outbox_chat ON outbox (chat, at);
CREATE TABLE chats (
  chat TEXT PRIMARY KEY,
  session TEXT NOT NULL,
  language TEXT,
  spoke INTEGER NOT NULL DEFAULT 0
, zone TEXT) STRICT, WITHOUT ROWID;
CREATE TABLE tool_calls (
  seq INTEGER PRIMARY KEY,
  run TEXT NOT NULL,
  session TEXT NOT NULL,
  message_id TEXT,
  call TEXT NOT NULL,
  tool TEXT NOT NULL,
  arguments TEXT NOT NULL,
  result TEXT,
  error TEXT,
  attempts INTEGER NOT NULL,
  duration_ms INTEGER,
  at REAL NOT NULL
) STRICT;
CREATE INDEX tool_calls_session ON tool_calls (session, seq);
CREATE TABLE store (born REAL NOT NULL, id TEXT NOT NULL DEFAULT '', sequence INTEGER NOT NULL DEFAULT 0, restored REAL, restored_from REAL, marked INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE approvals (
  id TEXT PRIMARY KEY,
  run TEXT NOT NULL,
  session TEXT NOT NULL,
  call TEXT NOT NULL,
  chat TEXT NOT NULL,
  person TEXT NOT NULL,
  tool TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  what TEXT NOT NULL,
  language TEXT NOT NULL,
  asked_at REAL NOT NULL,
  expires_at REAL NOT NULL,
  state TEXT NOT NULL DEFAULT 'pending'
    CHECK (state IN ('pending', 'approved', 'used', 'denied', 'expired', 'withdrawn')),
  answered_by TEXT,
  answered_at REAL
, subject TEXT NOT NULL DEFAULT '', bound TEXT NOT NULL DEFAULT '', choices TEXT NOT NULL DEFAULT '', answer TEXT NOT NULL DEFAULT '', grounds TEXT NOT NULL DEFAULT '') STRICT, WITHOUT ROWID;
CREATE INDEX approvals_call ON approvals (session, call);
CREATE INDEX approvals_open ON approvals (asked_at) WHERE state = 'pending';
CREATE TABLE chat_skills (
  chat TEXT PRIMARY KEY,
  shelved TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE tasks (
  id TEXT PRIMARY KEY,
  call TEXT NOT NULL UNIQUE,
  chat TEXT NOT NULL,
  asked_by TEXT NOT NULL,
  person TEXT NOT NULL,
  language TEXT NOT NULL,
  reply_to TEXT,
  prompt TEXT NOT NULL,
  background INTEGER NOT NULL,
  created REAL NOT NULL,
  state TEXT NOT NULL DEFAULT 'pending'
    CHECK (state IN ('pending', 'running', 'completed', 'failed', 'cancelled', 'killed')),
  lives INTEGER NOT NULL DEFAULT 0,
  unwanted INTEGER NOT NULL DEFAULT 0,
  started REAL,
  ended REAL,
  report TEXT NOT NULL DEFAULT '',
  error TEXT NOT NULL DEFAULT '',
  kept TEXT NOT NULL DEFAULT '',
  tokens INTEGER NOT NULL DEFAULT 0,
  cost_usd REAL NOT NULL DEFAULT 0
, origin TEXT NOT NULL DEFAULT '', report_origin TEXT NOT NULL DEFAULT '') STRICT, WITHOUT ROWID;
CREATE INDEX tasks_open ON tasks (created) WHERE state IN ('pending', 'running');
CREATE INDEX tasks_chat ON tasks (chat, created);
CREATE TABLE steps (
  seq INTEGER PRIMARY KEY,
  run TEXT NOT NULL,
  after INTEGER NOT NULL,
  at REAL NOT NULL,
  event TEXT NOT NULL,
  state TEXT
) STRICT;
CREATE INDEX steps_run ON steps (run, seq);
CREATE INDEX transcript_chat ON transcript (chat, seq);
CREATE INDEX runs_chat ON runs (chat, started);
CREATE INDEX runs_started ON runs (started);
CREATE INDEX approvals_run ON approvals (run, asked_at);
CREATE TABLE jobs (
  id TEXT PRIMARY KEY,
  chat TEXT NOT NULL,
  person TEXT NOT NULL,
  language TEXT NOT NULL,
  zone TEXT NOT NULL,
  rule TEXT NOT NULL,
  work TEXT NOT NULL,
  created REAL NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('draft', 'active', 'paused', 'done', 'removed')),
  pause TEXT,
  grace REAL NOT NULL,
  next_at REAL,
  scripts TEXT NOT NULL,
  failures INTEGER NOT NULL DEFAULT 0,
  told_cause TEXT NOT NULL DEFAULT '',
  told_at REAL,
  instead_of TEXT NOT NULL DEFAULT '',
  given TEXT NOT NULL DEFAULT '[]'
, origin TEXT NOT NULL DEFAULT '', is_by_own_clock INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
CREATE INDEX jobs_due ON jobs (next_at) WHERE state = 'active' AND next_at IS NOT NULL;
CREATE INDEX jobs_chat ON jobs (chat, created);
CREATE TABLE firings (
  job TEXT NOT NULL,
  slot TEXT NOT NULL,
  id TEXT NOT NULL UNIQUE,
  chat TEXT NOT NULL,
  due REAL NOT NULL,
  state TEXT NOT NULL
    CHECK (state IN ('begun', 'done', 'nothing', 'failed', 'overlapped', 'missed')),
  began REAL,
  ended REAL,
  run TEXT NOT NULL DEFAULT '',
  text TEXT NOT NULL DEFAULT '',
  error TEXT NOT NULL DEFAULT '',
  cause TEXT NOT NULL DEFAULT '',
  tokens INTEGER NOT NULL DEFAULT 0,
  cost_usd REAL NOT NULL DEFAULT 0,
  delivery TEXT NOT NULL DEFAULT 'none' CHECK (delivery IN ('none', 'pending', 'sent', 'held', 'failed')),
  delivery_error TEXT NOT NULL DEFAULT '',
  reaction TEXT, origin TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (job, slot)
) STRICT, WITHOUT ROWID;
CREATE INDEX firings_due ON firings (job, due);
CREATE INDEX firings_chat ON firings (chat, due);
CREATE INDEX firings_held ON firings (chat, due) WHERE delivery = 'held';
CREATE TABLE heartbeats (
  chat TEXT PRIMARY KEY,
  person TEXT NOT NULL,
  job TEXT NOT NULL UNIQUE,
  is_on INTEGER NOT NULL,
  quiet_from INTEGER,
  quiet_to INTEGER,
  quiet_chosen INTEGER NOT NULL DEFAULT 0,
  most_a_day INTEGER NOT NULL,
  snoozed_until REAL NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0,
  last_look REAL,
  last_outcome TEXT NOT NULL DEFAULT ''
, quiet_zone TEXT) STRICT, WITHOUT ROWID;
CREATE TABLE rules (
  id TEXT PRIMARY KEY,
  chat TEXT NOT NULL,
  person TEXT NOT NULL,
  tool TEXT NOT NULL,
  what TEXT NOT NULL,
  subject TEXT NOT NULL,
  bound TEXT NOT NULL,
  given_by TEXT NOT NULL,
  created REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX rules_subject ON rules (chat, person, subject);
CREATE INDEX outbox_unconfirmed ON outbox (chat, at) WHERE unconfirmed > 0;
CREATE TABLE set_aside (
  seq INTEGER PRIMARY KEY,
  at REAL NOT NULL,
  chat TEXT NOT NULL,
  who TEXT NOT NULL,
  words TEXT NOT NULL,
  told INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX runs_whole ON runs (started) WHERE shortened = 0;
CREATE TABLE read_marks (
  chat TEXT PRIMARY KEY,
  at REAL NOT NULL,
  person TEXT,
  trouble TEXT NOT NULL DEFAULT ''
, gap INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
CREATE VIRTUAL TABLE said USING fts5 (chat, words, content = '', detail = column, columnsize = 0, tokenize = 'ascii');
CREATE TABLE search_progress (before INTEGER NOT NULL) STRICT;
CREATE TABLE session_titles (
  session TEXT PRIMARY KEY,
  title TEXT NOT NULL
, chat TEXT, at REAL NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
CREATE INDEX runs_person ON runs (person, chat);
CREATE TABLE people (
  added INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  role TEXT,
  is_blocked INTEGER NOT NULL,
  given_by TEXT NOT NULL,
  at REAL NOT NULL
) STRICT;
CREATE TABLE accounts (
  added INTEGER PRIMARY KEY,
  principal TEXT NOT NULL UNIQUE,
  person TEXT NOT NULL,
  name TEXT NOT NULL,
  chat TEXT
) STRICT;
CREATE INDEX accounts_person ON accounts (person);
CREATE TABLE chat_settings (
  place TEXT NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  set_by TEXT NOT NULL,
  at REAL NOT NULL,
  PRIMARY KEY (place, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE budgets (
  scope TEXT NOT NULL,
  subject TEXT NOT NULL,
  period TEXT NOT NULL,
  unit TEXT NOT NULL,
  amount INTEGER NOT NULL,
  set_by TEXT NOT NULL,
  set_at REAL NOT NULL,
  PRIMARY KEY (scope, subject, period, unit)
) STRICT, WITHOUT ROWID;
CREATE TABLE spending (
  id TEXT PRIMARY KEY,
  at REAL NOT NULL,
  run TEXT NOT NULL,
  chat TEXT NOT NULL,
  person TEXT NOT NULL,
  job TEXT NOT NULL,
  model TEXT NOT NULL,
  tokens INTEGER NOT NULL,
  cost INTEGER NOT NULL,
  state TEXT NOT NULL
, node TEXT NOT NULL DEFAULT '') STRICT, WITHOUT ROWID;
CREATE INDEX spending_at ON spending (at);
CREATE INDEX spending_open ON spending (id) WHERE state = 'reserved';
CREATE TABLE rulings (
  seq INTEGER PRIMARY KEY,
  session TEXT NOT NULL,
  call TEXT NOT NULL,
  at REAL NOT NULL,
  behavior TEXT NOT NULL,
  ruled_by TEXT NOT NULL
) STRICT;
CREATE INDEX rulings_call ON rulings (session, call);
CREATE TABLE erasures (
  who TEXT NOT NULL,
  at REAL NOT NULL,
  PRIMARY KEY (who, at)
) STRICT, WITHOUT ROWID;
CREATE TABLE standings (
  person TEXT PRIMARY KEY,
  roles TEXT NOT NULL,
  is_full_member INTEGER NOT NULL,
  at REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE voice_notices (person TEXT PRIMARY KEY, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE pairing (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  code TEXT NOT NULL,
  expires REAL NOT NULL,
  wrong INTEGER NOT NULL
) STRICT;
CREATE TABLE pairing_tries (
  principal TEXT PRIMARY KEY,
  wrong INTEGER NOT NULL,
  at REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE strangers (
  id TEXT PRIMARY KEY,
  principal TEXT NOT NULL UNIQUE,
  event TEXT NOT NULL,
  at REAL NOT NULL,
  state TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE rewinds (
  event TEXT PRIMARY KEY,
  session TEXT NOT NULL,
  after INTEGER NOT NULL,
  until INTEGER NOT NULL,
  exchanges INTEGER NOT NULL,
  at REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX rewinds_session ON rewinds (session);
CREATE TABLE reactions (
  seq INTEGER PRIMARY KEY,
  chat TEXT NOT NULL,
  message_id TEXT NOT NULL,
  at REAL NOT NULL
) STRICT;
CREATE INDEX spending_run ON spending (run);
CREATE TABLE menus (
  chat TEXT PRIMARY KEY,
  digest TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX session_titles_chat ON session_titles (chat);
CREATE TABLE conversations (
  chat TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  title TEXT NOT NULL DEFAULT '',
  words TEXT NOT NULL DEFAULT '',
  last REAL NOT NULL,
  answered REAL NOT NULL DEFAULT 0,
  seen REAL NOT NULL DEFAULT 0,
  pinned INTEGER NOT NULL DEFAULT 0,
  deleted REAL
) STRICT, WITHOUT ROWID;
CREATE INDEX conversations_listed ON conversations (owner, pinned, last, chat) WHERE deleted IS NULL;
CREATE TABLE browsers (
  digest TEXT PRIMARY KEY,
  principal TEXT NOT NULL,
  person TEXT NOT NULL,
  name TEXT NOT NULL,
  place TEXT NOT NULL,
  created REAL NOT NULL,
  used REAL NOT NULL
, token_digest TEXT NOT NULL DEFAULT '') STRICT, WITHOUT ROWID;
CREATE TABLE links (
  digest TEXT PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  principal TEXT NOT NULL,
  name TEXT NOT NULL,
  expires REAL NOT NULL,
  said_by TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;
CREATE TABLE code_outcomes (
  event TEXT PRIMARY KEY,
  outcome TEXT NOT NULL,
  at REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE nodes (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  host TEXT NOT NULL,
  pid INTEGER NOT NULL,
  version TEXT NOT NULL,
  started REAL NOT NULL,
  beat REAL NOT NULL,
  draining INTEGER NOT NULL DEFAULT 0,
  fenced INTEGER NOT NULL DEFAULT 0,
  home TEXT NOT NULL DEFAULT '',
  settings TEXT NOT NULL DEFAULT '',
  skills TEXT NOT NULL DEFAULT ''
, unreachable TEXT NOT NULL DEFAULT '') STRICT, WITHOUT ROWID;
CREATE TABLE chat_owners (
  chat TEXT PRIMARY KEY,
  node TEXT,
  number INTEGER NOT NULL,
  since REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX chat_owners_node ON chat_owners (node);
CREATE TABLE leases (
  name TEXT PRIMARY KEY,
  node TEXT,
  number INTEGER NOT NULL,
  since REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE spending_sums (
  scope TEXT NOT NULL,
  subject TEXT NOT NULL,
  begins REAL NOT NULL,
  ends REAL NOT NULL,
  tokens INTEGER NOT NULL,
  cost INTEGER NOT NULL,
  waited INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (scope, subject, begins, ends)
) STRICT, WITHOUT ROWID;
CREATE TABLE page_commands (
  id TEXT PRIMARY KEY,
  event TEXT NOT NULL,
  at REAL NOT NULL,
  taken INTEGER NOT NULL DEFAULT 0,
  answer TEXT
) STRICT, WITHOUT ROWID;
CREATE TABLE page_links (
  digest TEXT PRIMARY KEY,
  principal TEXT NOT NULL,
  person TEXT NOT NULL,
  expires REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE paused_runs (
  run TEXT PRIMARY KEY,
  session TEXT NOT NULL,
  until INTEGER NOT NULL,
  place INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX paused_runs_session ON paused_runs (session);
CREATE TABLE rewrites (name TEXT PRIMARY KEY, file INTEGER NOT NULL, erased TEXT NOT NULL) STRICT;
CREATE TABLE person_zones (
  principal TEXT PRIMARY KEY,
  zone TEXT,
  source TEXT NOT NULL,
  is_told INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE plugin_migrations (
  plugin TEXT NOT NULL,
  number INTEGER NOT NULL,
  sql TEXT NOT NULL,
  PRIMARY KEY (plugin, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE owed (
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  chat TEXT NOT NULL,
  data TEXT NOT NULL,
  run TEXT NOT NULL,
  at REAL NOT NULL,
  due REAL NOT NULL,
  attempts INTEGER NOT NULL,
  PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX owed_chat ON owed (chat);
CREATE TABLE owed_erasures (
  plugin TEXT NOT NULL,
  who TEXT NOT NULL,
  at REAL NOT NULL,
  direct TEXT NOT NULL,
  shared TEXT NOT NULL,
  PRIMARY KEY (plugin, who, at)
) STRICT, WITHOUT ROWID;
CREATE TABLE voice_recordings (
  seq INTEGER NOT NULL,
  place INTEGER NOT NULL,
  chat TEXT NOT NULL,
  person TEXT NOT NULL,
  words TEXT NOT NULL,
  seconds REAL,
  model TEXT NOT NULL,
  at REAL NOT NULL,
  PRIMARY KEY (seq, place)
) STRICT, WITHOUT ROWID;
INSERT INTO store (born, id) VALUES (strftime('%s', 'now'), lower(hex(randomblob(16))));
INSERT INTO search_progress (before) VALUES (1);
