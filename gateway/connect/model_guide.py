"""The guide that connects Parley with a model: of a provider, of this machine, or of a server of one's own."""

import asyncio
from collections.abc import Mapping, Sequence

from agent_core.models.local_servers import LOCAL_SERVERS, LocalModel, find_local_model, is_answering
from agent_core.models.providers import OPENAI_KEY, PROVIDERS, Provider
from agent_core.models.selection import BASE_URL, ModelSettingError
from gateway.connect.guide import Guide, Surroundings
from gateway.connect.model_trial import Trial, chosen, tried
from gateway.connect.pasted import cleaned, whose
from gateway.connect.steps import Ask, Busy, Choice, Done, Form
from gateway.errors import SettingsError
from gateway.settings.sources import Origin
from gateway.texts.say import Language

MODEL = "PARLEY_MODEL"
LONGEST_WORD = 20
"""Characters of an answer that is shown again; a longer one may be a key."""
OWN = "server"
"""The choice beside providers and local models."""
_SETTINGS = {MODEL: "model", BASE_URL: "openai_base_url"}
"""Names of the settings by variable."""


class ModelGuide(Guide):
    """Connects one model and makes it the default."""

    def __init__(self, around: Surroundings, language: Language) -> None:
        super().__init__(around, language)
        self._provider: Provider | None = None
        """The one whose key is asked for; None while it is that of a server of one's own."""
        self._given: dict[str, str] = {}
        """The values entered last, by variable; the key of any provider is under OPENAI_KEY."""
        self._pasted = ""
        """A key that was given in place of a choice, and says by itself whose it is."""

    async def _converse(self) -> Done:
        self._file.check()
        local = await self._found()
        place, trouble = await self._place(local), ""
        while True:
            is_pasted, provider = bool(self._pasted), self._provider
            if provider is not None and is_pasted and not trouble:
                values = self._of_provider(provider, self._pasted, provider.model)
            else:
                values = await self._values(place, trouble)
            self._check_places(values)
            outcome = await self._tried(values)
            if isinstance(outcome, str):
                trouble = outcome
            elif is_pasted or await self._confirmed(self._say("connect_model_use", answer=self._answered(outcome))):
                return await self._finish(values, outcome)
            else:
                place, trouble = await self._place(local), ""

    async def _found(self) -> Sequence[LocalModel]:
        """Return the best model of each server on this machine."""
        await self._show(Busy(text=self._say("connect_model_looking")))
        found = await asyncio.gather(*(find_local_model([server]) for server in LOCAL_SERVERS))
        return [each for each in found if each is not None]

    async def _place(self, local: Sequence[LocalModel]) -> str:
        """Ask where the model is."""
        environ = self._around.settings.environ
        on_machine = [
            Choice(
                value=f"{each.server.prefix}/{each.model.id}",
                label=self._say("connect_model_local", model=each.model.id, server=each.server.name),
            )
            for each in local
        ]
        hosted = [
            Choice(
                value=each.name,
                label=self._say("connect_model_hosted", model=each.model)
                + (self._say("connect_model_has_key") if each.key_in(environ) else ""),
            )
            for each in PROVIDERS
        ]
        standing_by = [each for each in self._around.models if each.standby and each.about]
        others = [
            Choice(value=OWN, label=self._say("connect_model_own")),
            *(Choice(value=each.name, label=each.about[self._language]) for each in standing_by),
        ]
        choices, trouble = (*on_machine, *hosted, *others), ""
        while True:
            text = "" if local else self._say("connect_model_no_local")
            where, begins = self._say("connect_model_where"), [each.key_begins for each in PROVIDERS if each.key_begins]
            pasted = self._say("connect_model_paste", begins=", ".join(f"{each}…" for each in begins))
            asked = Ask(label=where, text=text, choices=choices, pasted=pasted, trouble=trouble)
            answer = cleaned(await self._ask(asked))
            self._pasted = ""
            if answer in {choice.value for choice in choices}:
                return answer
            self._provider = next((each for each in PROVIDERS if each.name == whose(answer)), None)
            if self._provider is not None:
                self._learn(answer)
                self._pasted, self._given = answer, {MODEL: self._provider.model, OPENAI_KEY: answer}
                return self._provider.name
            is_word = len(answer) <= LONGEST_WORD
            trouble = self._say("connect_no_choice", value=answer) if is_word else self._say("connect_model_whose_key")

    async def _values(self, place: str, trouble: str) -> dict[str, str]:
        """Ask for what belongs to the choice, and return the variables to write."""
        provider = next((each for each in PROVIDERS if each.name == place), None)
        self._provider = provider
        if place == OWN:
            return await self._own_server(trouble)
        if provider is None:
            return {MODEL: place, **self._without_server()}
        return self._of_provider(provider, *await self._hosted(provider, trouble))

    def _of_provider(self, provider: Provider, key: str, model: str) -> dict[str, str]:
        """Return the variables to write. The key is "" if the one that is set shall stay."""
        return {**({provider.keys[0]: key} if key else {}), MODEL: f"{provider.name}/{model}", **self._without_server()}

    async def _hosted(self, provider: Provider, trouble: str) -> tuple[str, str]:
        """Ask for a provider's key and model. The key is "" if the one that is set shall stay."""
        is_set = provider.key_in(self._around.settings.environ) is not None
        model = self._given.get(MODEL, provider.model)
        while True:
            keeps = is_set or OPENAI_KEY in self._given
            form = Form(
                fields=(
                    Ask(label=self._say("connect_model_key", provider=provider.name), is_secret=True, is_kept=keeps),
                    Ask(label=self._say("connect_model_name"), default=model),
                ),
                text=self._say("connect_model_keep_key" if is_set else "connect_model_make_key"),
                link=provider.keys_page,
                trouble=trouble,
            )
            pasted, named = map(cleaned, await self._filled(form))
            model = named.removeprefix(f"{provider.name}/") or provider.model
            key = pasted or self._given.get(OPENAI_KEY, "")
            trouble = "" if is_set and not key else self._wrong_key(key, provider)
            if not trouble:
                self._learn(key)
                self._given = {MODEL: model, **({OPENAI_KEY: key} if key else {})}
                return key, model

    async def _wrong(self, number: int, text: str) -> str:
        value = cleaned(text)
        if self._provider is not None:
            return self._wrong_key(value, self._provider) if number == 0 else ""
        return "" if number or await is_answering(value) else self._say("connect_model_no_answer", address=value)

    def _wrong_key(self, key: str, provider: Provider) -> str:
        """Return what is wrong with a key; empty if nothing is."""
        owner = whose(key) if key else ""
        if not key:
            return self._say("connect_nothing")
        if owner not in ("", provider.name):
            return self._say("connect_other_platform", owner=owner, platform=provider.name)
        return self._say("connect_key_with_spaces") if any(char.isspace() for char in key) else ""

    async def _own_server(self, trouble: str) -> dict[str, str]:
        given = {BASE_URL: self._around.settings.openai_base_url or "", **self._given}
        while True:
            key_label = "connect_model_kept_key" if given.get(OPENAI_KEY) else "connect_model_own_key"
            form = Form(
                fields=(
                    Ask(label=self._say("connect_model_address"), default=given[BASE_URL]),
                    Ask(label=self._say(key_label), is_secret=True, is_kept=bool(given.get(OPENAI_KEY))),
                    Ask(label=self._say("connect_model_own_name"), default=given.get(MODEL, "")),
                ),
                trouble=trouble,
            )
            address, key, model = map(cleaned, await self._filled(form))
            key = key or given.get(OPENAI_KEY, "")
            self._learn(key)
            self._given = given = {BASE_URL: address, MODEL: model, **({OPENAI_KEY: key} if key else {})}
            if await is_answering(address):
                return given
            trouble = self._say("connect_model_no_answer", address=address)

    def _learn(self, key: str) -> None:
        if key:
            self._around.secrets.add(key)

    def _without_server(self) -> dict[str, str]:
        """Return what takes the address of an own server out of the settings, to which all models would go."""
        return {BASE_URL: ""} if self._around.settings.openai_base_url else {}

    def _check_places(self, values: Mapping[str, str]) -> None:
        """Raise SettingsError if a variable is set where it wins over the file, or cannot be taken out there."""
        places = self._around.settings.places
        for name, value in values.items():
            place = places.get(_SETTINGS.get(name, ""))
            if place == Origin(name):
                raise SettingsError(self._say("connect_in_environment", name=name))
            if place and not value and place.name != name:
                raise SettingsError(self._say("connect_in_toml", place=place.words(self._language)))

    async def _tried(self, values: Mapping[str, str]) -> Trial | str:
        """Call the model. Returns the outcome, or a sentence about what is wrong."""
        await self._show(Busy(text=self._say("connect_model_trying")))
        try:
            choice = await chosen(values, self._around.settings.environ, self._around.models)
        except ModelSettingError as error:
            return str(error)
        trial = await tried(choice)
        if trial.failure is None:
            return trial
        return self._say(trial.trouble, model=trial.model.id, reason=trial.reason)

    def _answered(self, trial: Trial) -> str:
        """Return the answer of a test call, with its time and price."""
        price = self._say("connect_model_price_unknown") if trial.price is None else f"${trial.price:.6f}"
        facts = {"model": trial.model.id, "seconds": f"{trial.seconds:.1f}", "price": price, "answer": trial.answer}
        return self._say("connect_model_answered", **facts)

    async def _finish(self, values: Mapping[str, str], trial: Trial) -> Done:
        self._file.write(values)
        names = ", ".join(f"`{name}`" for name in values)
        lines = [
            self._answered(trial),
            self._say("connect_written", file=str(self._file.path), names=names),
        ]
        if self._around.program is None:
            lines.append(self._say("connect_model_start", command=self._around.start_command))
        elif await self._around.program.use_model():
            lines.append(self._say("connect_model_in_use"))
        else:
            lines.append(self._say("connect_model_restart"))
        return Done(lines=tuple(lines))
