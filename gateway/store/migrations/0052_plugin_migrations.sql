-- What was applied of the migrations of plugins, with the SQL, from which their tables are made in a copy on another
-- kind of database, also where the plugin is gone.
CREATE TABLE plugin_migrations (
  plugin TEXT NOT NULL,
  number INTEGER NOT NULL,
  sql TEXT NOT NULL,
  PRIMARY KEY (plugin, number)
) STRICT, WITHOUT ROWID;
