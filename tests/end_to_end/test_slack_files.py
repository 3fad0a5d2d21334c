"""Files on Slack: those that come in ways of its own, and those whose content it refuses."""

from parley.testing.emulators.control import Effect, Fault
from parley.testing.emulators.slack import SlackEmulator
from tests.emulators.model_script import Answer, ModelRequest, ToolUse, calls, says
from tests.end_to_end.pictures import picture
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.stage import Stage, has, says_last, shows

pytestmark = only("slack")


def tells_what_it_reads(stage: Stage) -> list[str]:
    """Let the model answer each message, and return what it reads."""
    read: list[str] = []

    def answer(request: ModelRequest) -> Answer:
        read.extend(request.texts("user"))
        return says("I have it.")

    stage.script.respond = answer
    return read


async def test_a_file_of_another_workspace_is_fetched_under_its_name(
    own_stage: Stage, own_slack: SlackEmulator
) -> None:
    read = tells_what_it_reads(own_stage)
    await own_stage.start()
    ann = own_slack.person("Ann", language="en")
    chat = own_slack.private(ann)

    await chat.connects(ann, "read this", ("plan.txt", b"ship it", "text/plain"))
    await chat.until(shows("I have it."))

    assert "[file: plan.txt, 7 bytes, in the workspace]" in read[-1]


async def test_a_file_that_slack_does_not_tell_is_named_to_the_person_and_the_model(
    own_stage: Stage, own_slack: SlackEmulator
) -> None:
    read = tells_what_it_reads(own_stage)
    await own_stage.start()
    ann = own_slack.person("Ann", language="en")
    chat = own_slack.private(ann)

    await chat.connects(ann, "read this", ("plan.txt", b"ship it", "text/plain"), is_kept_back=True)
    await chat.until(says_last("I have it."))

    assert "could not be fetched" in read[-1]
    assert "I could not get file-" in chat.screen[-1]


async def test_the_files_of_a_shared_message_are_fetched(own_stage: Stage, own_slack: SlackEmulator) -> None:
    read = tells_what_it_reads(own_stage)
    await own_stage.start()
    ann, ben = own_slack.person("Ann", language="en"), own_slack.person("Ben")
    chat, team = own_slack.private(ann), own_slack.group("Team", [ann, ben])

    said = await team.says(ben, "see this", document=("plan.txt", b"ship it", "text/plain"))
    await chat.shares(ann, said, "what is in it?")
    await chat.until(shows("I have it."))

    assert "[file: plan.txt, 7 bytes, in the workspace]" in read[-1]


async def test_files_of_one_message_reach_the_model_with_its_words_in_one(
    own_stage: Stage, own_slack: SlackEmulator
) -> None:
    read = tells_what_it_reads(own_stage)
    await own_stage.start()
    ann = own_slack.person("Ann", language="en")
    chat = own_slack.private(ann)

    await chat.says(ann, "read both", photo=picture(), document=("plan.txt", b"ship it", "text/plain"))
    await chat.until(shows("I have it."))

    assert len(own_stage.model.requests) == 1
    assert ["read both" in words for words in read].count(True) == 1
    assert all(f"[file: {name}" in "\n".join(read) for name in ("photo.jpg", "plan.txt"))


async def test_of_files_sent_together_only_the_one_does_not_arrive_whose_content_slack_refuses(
    own_stage: Stage, own_slack: SlackEmulator
) -> None:
    large = "x" * 1_000
    contents = {"a.csv": "a,b", "large.csv": large, "c.csv": "1,2"}
    own_stage.script.then(
        calls(*(ToolUse("write_file", {"path": name, "content": words}) for name, words in contents.items())),
        calls(ToolUse("send_file", {"path": "a.csv", "also": ["large.csv", "c.csv"], "caption": "All three"})),
        says("One did not arrive."),
    )
    await own_stage.start()
    ann = own_slack.person("Ann", language="en")
    chat = own_slack.private(ann)
    own_slack.faults.add(
        Fault("upload", Effect(status=413), None, where=lambda call: call.params["length"] == len(large))
    )

    await chat.says(ann, "send me the three tables")

    await chat.until(has("One did not arrive."))
    assert chat.screen[:2] == ["[a.csv] All three", "[c.csv]"]
    assert "large.csv was not accepted: HTTP 413" in str(own_stage.model.requests[-1].body)
