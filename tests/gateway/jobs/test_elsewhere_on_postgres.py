"""Reports in other chats, with the store on PostgreSQL."""

from tests.gateway.jobs.bot_on_postgres import start_timed_bot_on_postgres  # noqa: F401 - `start_bot`
from tests.gateway.jobs.test_elsewhere import (  # noqa: F401 - tests, which run with the fixture above
    test_a_changed_report_is_asked_again_and_an_unchanged_one_is_not,
    test_a_chat_is_asked_five_times_a_day_at_most_however_fast_jobs_are_removed,
    test_a_chat_that_is_gone_when_its_report_comes_lets_it_come_back_with_the_reason,
    test_a_kill_between_the_steps_of_a_change_carries_no_agreement_to_other_words,
    test_a_refusal_is_told_to_the_author_and_can_be_taken_back,
    test_mondays_report_with_a_table_comes_in_the_other_chat,
)
from tests.gateway.jobs.test_elsewhere_at_odds import (  # noqa: F401
    test_the_agent_of_the_other_chat_knows_nothing_of_the_report_once_its_author_is_forgotten,
    test_words_that_change_while_the_other_chat_agrees_are_shown_there_first,
)
