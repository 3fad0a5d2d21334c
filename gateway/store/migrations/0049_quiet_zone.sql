-- Quiet hours may be by the clocks of a zone that the person names; without one, by those of the chat.
ALTER TABLE heartbeats ADD COLUMN quiet_zone TEXT;
