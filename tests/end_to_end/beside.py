"""Commands of the program beside a running Parley."""

from tests.end_to_end import forks
from tests.end_to_end.stage import API_KEY, Stage
from tests.end_to_end.tables import ADDRESS
from tests.process import Finished


async def parley(stage: Stage, *arguments: str) -> Finished:
    """Run a command with the same home and database as the running program."""
    home = stage.program.home
    environ = {"HOME": str(home.parent), "PARLEY_HOME": str(home), "OPENAI_API_KEY": API_KEY}
    address = home.parent / ADDRESS
    if address.exists():
        environ["PARLEY_DATABASE_URL"] = address.read_text()
    return await forks.parley(*arguments, cwd=home.parent, environ=environ)
