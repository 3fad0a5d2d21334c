"""Commands are displayed with the most readable quoting, and a shell reads them back unchanged."""

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.clock import SystemClock
from agent_core.messages import JsonObject
from agent_core.sandbox.process import ProcessSandbox
from agent_core.tools.shell import as_typed, run_command_tool
from tests.agent_core.sandbox.running import PlainLauncher


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["python3", "my chart.py"], "python3 'my chart.py'"),
        (["sh", "-c", "wc -l < 'a b'"], """sh -c "wc -l < 'a b'" """.strip()),
        (["sh", "-c", "awk '{print $1}' x"], r"""sh -c "awk '{print \$1}' x" """.strip()),
        (["echo", "it's", "!"], """echo "it's" '!'"""),
        (["echo", "it's!"], """echo 'it'"'"'s!'"""),
        ([""], "''"),
    ],
)
def test_a_command_is_shown_in_the_quotes_that_read_best(words: list[str], line: str) -> None:
    assert as_typed(words) == line


@given(st.lists(st.text("ab '\"$`\\!\n*", max_size=9), min_size=1))
def test_a_shell_reads_what_is_shown_as_the_very_same_words(words: list[str]) -> None:
    line = f"printf '%s\\0' {as_typed(words)}"
    done = subprocess.run(["/bin/sh"], input=line, capture_output=True, check=True, text=True)

    assert done.stdout.split("\0")[:-1] == words


@pytest.mark.parametrize(
    ("arguments", "label"),
    [
        ({"argv": ["python3", "chart.py"]}, "Running python3 chart.py"),
        ({"argv": ["sh", "-c", "ls | wc -l"]}, "Running sh -c 'ls | wc -l'"),
        ({"argv": ["echo", "x" * 200]}, f"Running echo {'x' * 200}"),
        ({"argv": ["echo", "a\u202eb\nrm"]}, r"Running echo 'a\u202eb\nrm'"),
        ({"argv": ["echo", "{argv}"]}, "Running echo '{argv}'"),
        ({"argv": "ls -l"}, "Running 'ls -l'"),
        ({}, "run_command"),
    ],
)
def test_people_see_the_whole_command(arguments: JsonObject, label: str) -> None:
    run_command = run_command_tool(ProcessSandbox(PlainLauncher(), SystemClock()))

    assert run_command.describe(arguments) == label
    in_chinese = {"zh": label.replace("Running", "运行", 1)} if arguments else {}
    assert run_command.describe_in(arguments) == in_chinese
