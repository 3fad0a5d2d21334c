-- Runs that were not shortened yet are looked for by their start, once a night. The other changes are SQLite's, see
-- ../0059_fewer_pages.sql: here nodes are fenced at any time, and tables are not kept in the order of their keys.
DROP INDEX runs_whole;
