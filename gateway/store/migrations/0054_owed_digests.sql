-- What is owed for each firing in a message that was held during quiet hours and is being sent: its outcome.
INSERT INTO owed (kind, key, chat, data, run, at, due, attempts)
SELECT 'digest', id, chat, '{}', 'digest-' || first, due, 0, 0 FROM (
  SELECT id, chat, due, CASE
    WHEN EXISTS (SELECT 1 FROM outbox WHERE outbox.key = 'digest-' || firings.id || ':proactive:0') THEN id
    ELSE (
      SELECT before.id FROM firings AS before JOIN outbox ON outbox.key = 'digest-' || before.id || ':proactive:0'
      WHERE before.delivery = 'pending' AND before.chat = firings.chat
        AND (before.due < firings.due OR (before.due = firings.due AND before.slot <= firings.slot))
      ORDER BY before.due DESC, before.slot DESC LIMIT 1
    )
    END AS first
  FROM firings WHERE delivery = 'pending' AND NOT EXISTS (
    SELECT 1 FROM outbox WHERE outbox.key =
      'job-' || firings.job || '-' || replace(replace(firings.slot, ':', ''), '-', '') || ':proactive:0'
  )
) AS being_sent WHERE first IS NOT NULL;
