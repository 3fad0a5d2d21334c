"""Lists the plugins of this start, with what became of each and what it adds."""

from collections.abc import Mapping, Sequence

from gateway.app.chosen_plugins import ChosenPlugins
from gateway.app.plugins import tables_of
from gateway.commands.command import Command
from gateway.commands.plugins import ListedPlugin, State
from gateway.permissions.installed_plugins import names_of_ours
from gateway.plugin import Duty


class ListedPlugins:
    """The plugins of this start. What they add is noted once it was read."""

    def __init__(self, chosen: ChosenPlugins) -> None:
        self._chosen = chosen
        self.commands: Mapping[str, Sequence[Command]] = {}
        """The commands of each."""
        self.duties: Mapping[str, Mapping[str, Duty]] = {}
        """The duties of each."""

    def __call__(self) -> Sequence[ListedPlugin]:
        """Return all, by name."""
        chosen, ours = self._chosen, names_of_ours()
        states = {kind.name: State.ON for kind in chosen.kinds} | dict.fromkeys(chosen.off, State.OFF)
        listed = [self._listed(name, state, is_ours=name in ours) for name, state in states.items()]
        for name, reason in chosen.left_out.items():
            state, content = State.CHANGED if name in chosen.changed else State.LEFT_OUT, chosen.contents.get(name)
            is_ours = name in ours and name not in states
            listed.append(ListedPlugin(name, state, is_ours=is_ours, content=content, reason=reason))
        return sorted(listed, key=lambda each: each.name)

    def _listed(self, name: str, state: State, *, is_ours: bool) -> ListedPlugin:
        kind = next((each for each in self._chosen.kinds if each.name == name), None)
        return ListedPlugin(
            name,
            state,
            is_ours=is_ours,
            content=self._chosen.contents.get(name),
            commands=[command.name for command in self.commands.get(name, ())],
            tools=sorted(kind.tool_names) if kind else (),
            duties=list(self.duties.get(name, ())),
            paths=sorted(kind.paths) if kind else (),
            tables=sorted({table for each in tables_of([kind]) for table in each.made}) if kind else (),
        )
