"""Events that are settled together with a change of rows, and with the posts that tell of it."""

from collections.abc import Sequence

from gateway.store.connection import Connection, Work
from gateway.store.outbox import insert, masked_posts, rows_of
from gateway.store.rows import Post
from gateway.store.table import Table


class Settled(Table):
    """The inbox and the outbox, written in one transaction with other rows."""

    async def by(self, change: Work[Sequence[Post]], seq: int) -> Sequence[Post]:
        """Make a change in the transaction that marks an inbox item as done, and queue the posts that it returns.

        Nothing is done, and there are no posts, if the item was done before.
        """
        query, now = "UPDATE inbox SET state = 'done' WHERE seq = ? AND state = 'new'", self._clock.time()

        def settle(connection: Connection) -> Sequence[Post]:
            if connection.execute(query, (seq,)).rowcount != 1:
                return ()
            posts = change(connection)
            insert(connection, rows_of(masked_posts(posts, self._secrets), now))
            return posts

        return await self._writer.submit(settle)
