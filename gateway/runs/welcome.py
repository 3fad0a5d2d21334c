"""Sample files that the demo model suggests looking at."""

from pathlib import Path

WELCOME = """\
Welcome to Parley.

This is a file in the workspace of your chat. Every chat has a folder of its own; files that you send end up there,
and the model can read them.

What to say next:

    remind me in 1 minute to stretch                  you see what it will be, and press Confirm
    every weekday at nine send me a report            /cron lists it, and runs it now if you like
    chart sales.csv                                   a skill is loaded, and its script run once you approve
    book a flight from Beijing to Tokyo tomorrow      another skill, which asks for what is missing
    count to 20                                       while it counts: "no, to 5", or /stop
    in the background: count to 5                     it goes on while you talk, and tells you when it is done
    remember: I like tea                              also in the next conversation (/new)
"""

SALES = """\
month,north,south
January,120,80
February,135,95
March,128,110
April,150,131
May,171,149
June,164,172
"""

NOTES = """\
# The garden

- [x] buy seeds
- [ ] water the tomatoes
- [ ] ask Ann about the greenhouse

Fewer visitors on Thursday, see visitors.csv: it rained all day.
"""

VISITORS = """\
day,visitors
Monday,41
Tuesday,48
Wednesday,57
Thursday,44
"""

FILES = {
    "welcome.txt": WELCOME,
    "sales.csv": SALES,
    "notes/garden.md": NOTES,
    "notes/visitors.csv": VISITORS,
}


def sample_of(name: str) -> bytes | None:
    """Return the content of a sample file, or None if there is none of that name. The user's own file wins over it."""
    return FILES[name].encode() if name in FILES else None


def lay_out_demo(workspace: Path) -> list[str]:
    """Write the sample files into a workspace if it is empty. Return the names of those written."""
    workspace.mkdir(mode=0o700, parents=True, exist_ok=True)
    if any(workspace.iterdir()):
        return []
    for name, text in FILES.items():
        (workspace / name).parent.mkdir(mode=0o700, exist_ok=True)
        (workspace / name).write_text(text, encoding="utf-8")
    return list(FILES)
