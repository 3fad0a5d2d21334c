"""What plugins owe chats is done on PostgreSQL as it is in SQLite's file."""

from tests.gateway.bot_on_postgres import start_bot_on_postgres  # noqa: F401 - `start_bot`
from tests.plugins.test_owed import (  # noqa: F401 - tests, which run with the fixture above
    adds,
    test_a_line_follows_each_answer,
    test_a_plugin_that_fails_at_the_end_of_a_run_owes_nothing_and_the_run_ends,
    test_an_attempt_that_fails_is_made_again,
)
