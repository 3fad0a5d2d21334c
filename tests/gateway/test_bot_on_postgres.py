"""A whole Parley whose store is on PostgreSQL: conversations of the gateway's tests, held over that database."""

from tests.gateway.bot_on_postgres import start_bot_on_postgres  # noqa: F401 - `start_bot`
from tests.gateway.conftest import StartBot
from tests.gateway.test_approvals import (  # noqa: F401 - tests, which run with the fixture below
    test_an_owner_answers_for_anybody,
    test_status_tells_of_open_questions_and_only_then,
    test_the_progress_message_says_what_is_waited_for,
)
from tests.gateway.test_conversation import (  # noqa: F401
    test_a_failing_model_is_told_in_one_sentence,
    test_a_message_during_a_run_steers_it,
    test_a_message_is_answered,
    test_a_message_right_behind_new_belongs_to_the_new_conversation,
    test_a_quick_tool_leaves_one_message,
    test_a_run_goes_on_after_a_restart,
    test_an_answer_that_could_not_be_sent_is_sent_after_a_restart,
    test_stop_stops_at_once,
    test_the_next_message_knows_the_last,
    test_the_same_words_twice_are_two_messages,
)
from tests.gateway.test_paused_runs import (  # noqa: F401
    test_an_answer_that_had_waited_is_given_again_as_the_last_one,
    test_runs_of_several_wait_and_each_goes_on_by_itself,
    test_the_order_is_the_same_when_the_conversation_is_read_again,
)
from tests.gateway.test_recovery import (  # noqa: F401
    test_a_stop_given_just_before_a_crash_stops_the_run_that_it_left,
)
from tests.gateway.test_session_commands import (  # noqa: F401
    test_a_conversation_is_listed_resumed_and_left_again,
)
from tests.gateway.test_tasks import (  # noqa: F401
    test_its_failure_is_told,
    test_what_strangers_wrote_is_marked_in_the_report,
)


async def test_its_store_is_not_in_the_home(start_bot: StartBot) -> None:
    bot = await start_bot("Good morning.")

    await bot.hears("good morning")

    assert bot.screen == ["Good morning."]
    assert list(bot.home.glob("parley.db*")) == []
