-- `json_extract` finds nothing in a text that is no JSON, as after damage to the database's files: one such row would
-- otherwise end every query that meets it.
DO $body$
BEGIN
  IF current_setting('server_version_num')::int >= 160000 THEN
    EXECUTE 'CREATE FUNCTION json_valid(document text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE'
      ' AS ''SELECT document IS JSON''';
  ELSE
    EXECUTE 'CREATE FUNCTION json_valid(document text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL UNSAFE'
      ' AS ''BEGIN PERFORM document::json; RETURN true; EXCEPTION WHEN data_exception THEN RETURN false; END''';
  END IF;
END
$body$;
-- Not in parallel: before version 16 each call is a block with an exception.
CREATE OR REPLACE FUNCTION json_extract(document text, path text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN json_valid(document) THEN
    (CASE WHEN strpos(document, '\u0000') = 0 THEN document ELSE replace(document, '\u0000', '\u2400') END)::json
      #>> string_to_array(substr(path, 3), '.')
  END
$$;
