"""Features that only Telegram's chats have.

Entities, quotes, albums, its file limit, blocked bots, topics, and groups that become supergroups.
"""

import asyncio

import pytest

from parley.testing.emulators.telegram import TelegramEmulator
from parley.testing.emulators.telegram_chat import Chat
from parley.testing.emulators.telegram_state import Person
from tests.emulators.model_script import ModelRequest, ToolUse, Turn, calls, says
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.stage import Stage, ends_with, is_finished, says_last, shows

pytestmark = [only("telegram"), pytest.mark.asyncio(loop_scope="module")]

MEGABYTE = 2**20
FENCED = "\n\n".join(f"Part {part}\n\n```python\n" + "print(1)\n" * 300 + "```" for part in range(1, 4))


def private(telegram: TelegramEmulator, name: str = "Ann") -> tuple[Person, Chat]:
    person = telegram.person(name, language="en")
    return person, telegram.private(person)


async def test_what_is_bold_in_the_answer_is_an_entity(stage: Stage, telegram: TelegramEmulator) -> None:
    ann, chat = private(telegram)
    stage.script.then(says("It is **391**."))

    await chat.says(ann, "what is 17*23?")
    await chat.until(shows("It is 391."))

    found = chat.bot_messages[-1].entities
    assert [(entity.type, entity.offset, entity.length) for entity in found] == [("bold", 6, 3)]


async def test_code_that_is_split_is_code_in_every_part(stage: Stage, telegram: TelegramEmulator) -> None:
    ann, chat = private(telegram)
    stage.script.then(says(FENCED, chunk=1000))

    await chat.says(ann, "write me a lot of code")
    await chat.until(lambda c: sum(words.count("print(") for words in c.screen) == 900 and is_finished(c))

    for message in chat.bot_messages:
        assert "```" not in message.text
        marked = "".join(
            message.text.encode("utf-16-le")[2 * each.offset : 2 * (each.offset + each.length)].decode("utf-16-le")
            for each in message.entities
            if each.type == "pre"
        )
        assert marked.count("print(") == message.text.count("print(")


async def test_what_is_quoted_is_told_to_the_model(stage: Stage, telegram: TelegramEmulator) -> None:
    ann, chat = private(telegram)
    stage.script.then(says("Oslo, Bergen and Tromsø."), says("It is in the north."))

    await chat.says(ann, "name three towns")
    await chat.until(shows("Oslo, Bergen and Tromsø."))
    await chat.says(ann, "where is that?", reply_to=chat.bot_messages[-1], quote="Tromsø")

    await chat.until(ends_with("It is in the north."))
    assert "In reply to: Parley: Tromsø" in stage.model.requests[-1].last_text


async def test_each_of_two_messages_to_one_answer_keeps_what_it_quotes(
    stage: Stage, telegram: TelegramEmulator
) -> None:
    ann, bob = telegram.person("Ann", language="en"), telegram.person("Bob")
    team = telegram.group("Team", [ann, bob])
    thinking = asyncio.Event()

    def respond(request: ModelRequest) -> Turn:
        """Wait, each time longer, until the second message is heard: Parley reads all messages of the group before."""
        heard = "which is better?" in request.texts("user")[-1]
        wait = ToolUse("wait", {"seconds": len(stage.model.requests) / 10})
        return says("North, and soup.") if heard else Turn(tools=(wait,), hold=thinking)

    stage.script.then(says("Oslo, Bergen and Tromsø."))
    lunch = await team.says(bob, "Soup or salad for lunch?")
    await team.says(ann, "@parley_bot name three towns")
    await team.until(shows("Oslo, Bergen and Tromsø."))
    towns = team.bot_messages[-1]

    stage.script.respond = respond
    asked = await team.says(ann, "where is that?", reply_to=towns, quote="Tromsø")
    await stage.asked(2)
    await team.says(ann, "@parley_bot and which is better?", reply_to=lunch, quote="Soup or salad")
    await stage.heard()
    thinking.set()
    await team.until(ends_with("North, and soup."))

    first, second = stage.circumstances[-2:]
    assert "In reply to: Parley: Tromsø" in first
    assert "salad" not in first
    assert "In reply to: Bob: Soup or salad" in second
    assert "Tromsø" not in second
    assert team.bot_messages[-1].reply_to == asked


async def test_messages_that_waited_together_keep_what_each_quotes_and_the_answer_is_a_reply_to_the_first(
    stage: Stage, telegram: TelegramEmulator
) -> None:
    ann, bob = telegram.person("Ann", language="en"), telegram.person("Bob", language="en")
    team = telegram.group("Team", [ann, bob])
    writing = asyncio.Event()
    said = [await team.says(bob, text) for text in ("One is red.", "Two is blue.")]
    stage.script.then(says("For Bob.", hold=writing), says("For Ann."))

    await team.says(bob, "@parley_bot mine first")
    await stage.asked(1)
    questions = [await team.says(ann, "@parley_bot is it?", reply_to=each, quote=each.text[:-1]) for each in said]
    await stage.heard()
    writing.set()
    await team.until(shows("For Bob.", "For Ann."))

    quotes = [words.partition("In reply to: ")[2].splitlines()[0] for words in stage.circumstances[-2:]]
    assert quotes == ["Bob: One is red", "Bob: Two is blue"]
    assert team.bot_messages[-1].reply_to == questions[0]


async def test_a_file_that_telegram_does_not_give_to_bots_is_refused_in_words_and_the_message_answered(
    stage: Stage, telegram: TelegramEmulator
) -> None:
    ann, chat = private(telegram)
    stage.script.then(says("It is too large."))

    await chat.says(ann, "watch this", document=("film.mp4", bytes(50 * MEGABYTE), "video/mp4"))

    await chat.until(says_last("It is too large."))
    assert "I could not get film.mp4: it is too large; at most 20 MB arrive here." in chat.screen[-1]
    assert "film.mp4 is too large: Telegram gives bots files of at most 20 MB" in stage.circumstances[0]
    assert telegram.calls_of("download") == []


async def test_of_an_album_of_twenty_ten_files_arrive_and_the_rest_is_named(
    stage: Stage, telegram: TelegramEmulator
) -> None:
    ann, chat = private(telegram)
    stage.script.then(says("Ten files."))

    for number in range(20):
        text = "" if number else "read"
        await chat.says(ann, text, document=(f"{number}.txt", b"words", "text/plain"), album="all")

    await chat.until(says_last("Ten files."))
    assert "10 more files were left out" in chat.screen[-1]
    assert len(stage.said) == 1
    assert stage.circumstances[0].count("in the workspace") == 10
    assert "10 more files were left out" in stage.circumstances[0]


SENDS_TWO_TABLES = (
    calls(ToolUse("write_file", {"path": "a.csv", "content": "1,2"})),
    calls(ToolUse("write_file", {"path": "b.csv", "content": "3,4"})),
    calls(ToolUse("send_file", {"path": "a.csv", "also": ["b.csv"], "caption": "Both tables"})),
    says("Done."),
)


async def test_files_that_the_model_sends_together_arrive_as_one_album(
    stage: Stage, telegram: TelegramEmulator
) -> None:
    ann, chat = private(telegram)
    telegram.flood.on = False
    stage.script.then(*SENDS_TWO_TABLES)

    await chat.says(ann, "make two tables")
    await chat.until(says_last("Done."))

    tables = [message for message in chat.bot_messages if message.document]
    assert [message.shown for message in tables] == ["[a.csv] Both tables", "[b.csv]"]
    assert tables[0].album == tables[1].album is not None
    assert len(telegram.calls_of("sendMediaGroup")) == 1


async def test_a_reply_to_a_later_file_of_an_album_is_one_to_parley_and_names_the_file(
    stage: Stage, telegram: TelegramEmulator
) -> None:
    ann, chat = private(telegram)
    telegram.flood.on = False
    stage.script.then(
        *SENDS_TWO_TABLES,
        says("It has two."),
        says("It has two, too."),
    )
    await chat.says(ann, "make two tables")
    await chat.until(says_last("Done."))
    first, later = [message for message in chat.bot_messages if message.document]

    await chat.says(ann, "how many numbers has this?", reply_to=later)
    await chat.until(ends_with("It has two."))
    assert "In reply to: Parley: [b.csv]" in stage.circumstances[-1]
    await chat.says(ann, "and this?", reply_to=first)
    await chat.until(ends_with("It has two, too."))
    assert "In reply to: Parley: Both tables [a.csv]" in stage.circumstances[-1]


async def test_an_album_whose_confirmation_is_lost_is_whole_and_appears_at_most_twice(
    stage: Stage, telegram: TelegramEmulator
) -> None:
    ann, chat = private(telegram)
    telegram.flood.on = False
    telegram.faults.lose_answer("sendMediaGroup")
    stage.script.then(
        calls(ToolUse("write_file", {"path": "a.csv", "content": "1,2"})),
        calls(ToolUse("write_file", {"path": "b.csv", "content": "3,4"})),
        calls(ToolUse("send_file", {"path": "a.csv", "also": ["b.csv"]})),
        says("Done."),
    )

    await chat.says(ann, "make two tables")
    await chat.until(says_last("Done."))

    assert [message.shown for message in chat.bot_messages if message.document] == ["[a.csv]", "[b.csv]"] * 2
    assert "a.csv, b.csv were sent" in stage.model.requests[-1].last_text


async def test_a_text_that_telegram_cut_into_pieces_is_one_message_whose_rest_is_in_a_file(
    stage: Stage, telegram: TelegramEmulator
) -> None:
    ann, chat = private(telegram)
    words = "".join(f"{number:07} " for number in range(12_500))
    stage.script.then(says("A lot of numbers."))

    for start in range(0, len(words), 4096):
        await chat.says(ann, words[start : start + 4096])
    await chat.until(shows("A lot of numbers."))

    assert len(words) == 100_000
    assert len(stage.said) == 1
    assert "characters, is in the file message-" in stage.said[0]
    files = list(stage.program.home.glob(f"workspaces/*{chat.id}*/message-*.txt"))
    assert [file.read_text().split() for file in files] == [words.split()]


async def test_who_blocked_parley_meanwhile_can_be_answered_again_later(
    stage: Stage, telegram: TelegramEmulator
) -> None:
    ann, chat = private(telegram)
    bob, with_bob = private(telegram, "Bob")
    writing = asyncio.Event()
    stage.script.then(says("Hello?", hold=writing), says("Hello Bob."), says("Welcome back."))

    await chat.says(ann, "hello")
    await stage.asked(1)
    await chat.blocks()
    writing.set()
    await with_bob.says(bob, "hello")
    await with_bob.until(shows("Hello Bob."))
    await telegram.wait_for(lambda: 403 in [call.status for call in telegram.calls_of("sendMessage")])
    await chat.unblocks()
    await chat.says(ann, "here I am again")

    await chat.until(shows("I'm not sure my last answer reached you.", "Welcome back."))


async def test_a_command_for_another_bot_is_left_to_it(stage: Stage, telegram: TelegramEmulator) -> None:
    ann = telegram.person("Ann")
    team = telegram.group("Team", [ann])

    await team.says(ann, "/status@other_bot")
    await team.says(ann, "/status@parley_bot")

    await team.until(lambda c: "Model:" in c.screen[0])
    assert len(team.screen) == 1


async def test_a_topic_is_a_chat_of_its_own(stage: Stage, telegram: TelegramEmulator) -> None:
    ann = telegram.person("Ann")
    forum = telegram.group("Forum", [ann], forum=True)
    travel, food = forum.topic("Travel"), forum.topic("Food")
    stage.script.then(says("Oslo."), says("Soup."))

    await travel.says(ann, "@parley_bot where to?")
    await travel.until(says_last("Oslo."))
    await food.says(ann, "@parley_bot what is there to eat?")
    await food.until(shows("Soup."))

    assert "Soup." not in travel.screen
    assert stage.said == ["Ann: what is there to eat?"]


async def test_where_parley_spoke_in_a_topic_it_needs_no_mention_there(
    stage: Stage, telegram: TelegramEmulator
) -> None:
    ann = telegram.person("Ann")
    forum = telegram.group("Forum", [ann], forum=True)
    travel, food = forum.topic("Travel"), forum.topic("Food")
    stage.script.then(says("Oslo."), says("By train."))

    await travel.says(ann, "@parley_bot where to?")
    await travel.until(shows("Oslo."))
    await food.says(ann, "soup?")
    await travel.says(ann, "how do I get there?")

    await travel.until(shows("Oslo.", "By train."))
    assert food.screen == []


async def test_an_answer_follows_a_group_that_moved(stage: Stage, telegram: TelegramEmulator) -> None:
    ann = telegram.person("Ann")
    team = telegram.group("Team", [ann], supergroup=False)
    writing = asyncio.Event()
    stage.script.then(says("Here it is.", hold=writing))

    await team.says(ann, "@parley_bot write something")
    await stage.asked(1)
    moved = await team.migrate()
    writing.set()

    await moved.until(shows("Here it is."))
