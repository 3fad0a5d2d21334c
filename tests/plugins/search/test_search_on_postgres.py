"""The command /search over a store on PostgreSQL."""

from tests.gateway.bot_on_postgres import start_bot_on_postgres  # noqa: F401 - `start_bot`
from tests.plugins.search.test_search_command import (  # noqa: F401
    test_a_chinese_word_of_two_characters_is_found,
    test_a_group_finds_only_what_was_said_there,
    test_messages_and_answers_are_found_after_a_new_conversation_too,
    test_older_results_come_by_a_button,
)
