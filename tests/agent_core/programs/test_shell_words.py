"""Commands are displayed with the most readable quoting, and a shell reads them back unchanged."""

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.tools.shell import as_typed


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
