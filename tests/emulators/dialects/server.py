"""What the servers of all dialects have in common, whatever their protocol."""

from abc import abstractmethod
from collections.abc import Sequence

from aiohttp import web

from tests.emulators.dialects.lessons import Lesson
from tests.emulators.model_script import Failure, ModelRequest, Script
from tests.emulators.model_server import ModelServer


class DialectServer(ModelServer):
    """A server that refuses what one provider refuses.

    `violations` has what was refused; `taught`, what was refused of a parameter that no client can know.
    """

    def __init__(
        self,
        model: str,
        lessons: Sequence[Lesson] = (),
        script: Script = (),
        *,
        api_key: str | None = None,
    ) -> None:
        super().__init__(script, api_key=api_key)
        self.model = model
        self.lessons = lessons
        self.taught: list[str] = []

    @property
    @abstractmethod
    def base_url(self) -> str:
        """Return the address that people give for it."""

    @abstractmethod
    def results(self, asked: ModelRequest) -> list[str]:
        """Return the texts of all results of tools in a request."""

    @abstractmethod
    def pictures(self, asked: ModelRequest) -> int:
        """Return the number of pictures in a request."""

    async def _answer(self, request: web.Request, asked: ModelRequest) -> web.StreamResponse:
        for lesson in self.lessons:
            if said := lesson.refusal(asked.body):
                (self.violate if lesson.known else self.taught.append)(said)
                return self._failed(Failure("bad_request", message=said))
        return await super()._answer(request, asked)
