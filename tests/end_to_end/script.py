"""Scripts for the emulated model: answers in order, or a function for all requests."""

from collections import deque

from tests.emulators.model_script import Answer, Failure, ModelRequest, Respond


class Script:
    """Answers of the model: in order, or from `respond` for every request."""

    def __init__(self) -> None:
        self.answers: deque[Answer] = deque()
        self.respond: Respond | None = None
        self.missed: list[str] = []
        """Requests without an answer."""

    async def __call__(self, asked: ModelRequest) -> Answer:
        if self.respond is not None:
            answer = self.respond(asked)
            return answer if isinstance(answer, Answer) else await answer
        if not self.answers:
            self.missed.append(asked.last_text)
            return Failure("bad_request", message="the script has run out")
        return self.answers.popleft()

    def then(self, *answers: Answer) -> None:
        self.answers.extend(answers)

    def clear(self) -> None:
        self.answers.clear()
        self.missed.clear()
        self.respond = None
