-- Questions of the model to a person: the choices offered, as a JSON list (empty for approvals), and the answer.
ALTER TABLE approvals ADD COLUMN choices TEXT NOT NULL DEFAULT '';
ALTER TABLE approvals ADD COLUMN answer TEXT NOT NULL DEFAULT '';
