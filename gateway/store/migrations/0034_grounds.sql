-- Why an approval was asked for: text keys, sources and the setting, as JSON (empty for earlier questions).
ALTER TABLE approvals ADD COLUMN grounds TEXT NOT NULL DEFAULT '';
