"""`python -m bench house`: the figures of the code's structure, and the gate on docstrings."""

from pathlib import Path

from bench.house import Module, failure, figures, share_of_riddles

PLAIN = '''"""A queue of messages."""

# Kept in order.
class Queue:
    """Messages of one chat."""

    size = 0
    """Number of messages."""
'''
RIDDLE = '''def oldest() -> str:
    """What came first."""
    return ""
'''


def module(text: str) -> Module:
    return Module(Path("module.py"), text)


async def test_each_figure_of_the_structure_is_counted() -> None:
    counted = {figure.name: figure for figure in await figures()}

    assert counted["product: lines"].ours > counted["code without docstrings, comments and blank lines"].ours > 10_000
    assert counted["files"].most == 330


def test_docstrings_of_attributes_count_and_are_no_code() -> None:
    assert len(module(PLAIN).docstrings) == 3
    assert module(PLAIN).code_lines() == 2


def test_the_gate_fails_when_too_many_docstrings_open_like_a_riddle() -> None:
    both = [module(PLAIN), module(RIDDLE)]

    assert share_of_riddles(both) == 25
    assert failure(both, 25) is None
    assert failure(both, 2) == (
        "25.0 % of the docstrings begin with What, Whether, Who, Where, Nobody, Whoever; at most 2 % may."
    )
