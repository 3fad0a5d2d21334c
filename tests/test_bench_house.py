"""`python -m bench house`: the figures of the code's structure, and the gate on docstrings."""

from pathlib import Path

from bench.house import counted, failure, share_of_riddles
from bench.late_attributes import late_attributes
from bench.modules import Module

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

LATE = """
Tell = Callable[[str], None]


class Jobs:
    def __init__(self, owners: Owners) -> None:
        self.tell: Tell | None = None
        self.others: Jobs | None = None
        self.load: Load | None = None
        self.known: list[Jobs] = []
        self.count: int = 0
        self.owners = owners


class Load(Struct):
    chats: int


class Parts(Struct, frozen=True):
    limits: Callable[[], Limits] = no_limits


def connect(jobs: Jobs, owners: Owners) -> None:
    jobs.tell = owners.tell
    jobs.others = Jobs(owners)
    jobs.handler = lambda: None
    jobs.load = Load(2)
    jobs.count = 1
    jobs.known = [Jobs(owners)]
    jobs.owners = owners
    jobs.tell = None
    jobs.limits = Limits()
"""


def module(text: str) -> Module:
    return Module(Path("module.py"), text)


def test_each_figure_of_the_structure_is_counted() -> None:
    figures = {figure.name: figure for figure in counted()}

    assert figures["product: lines"].ours > figures["code without docstrings, comments and blank lines"].ours > 10_000
    assert figures["files"].most == 330


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


def test_only_collaborators_that_are_assigned_from_outside_are_bound_late() -> None:
    assert [each.attribute for each in late_attributes([module(LATE)])] == ["tell", "others", "handler"]
