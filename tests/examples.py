"""How many examples a property is tried with: all with `--all-platforms`, as in CI, else a third of them."""

import os

ALL = "PARLEY_ALL_EXAMPLES"


def examples(most: int) -> int:
    return most if os.environ.get(ALL) else max(most // 3, 1)
