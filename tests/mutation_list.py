"""Mutations of the code, each for one row of docs/behaviour.md; `python -m tests.mutations` tries them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutation:
    """A change of one file: `old` occurs once in it and is replaced by `new`."""

    row: str
    file: str
    what: str
    """Description of the defect."""
    old: str
    new: str


MUTATIONS = (
    Mutation(
        "S0-16",
        "agent_core/tools/registry.py",
        "a tool may take the name of a skill tool",
        "if item.name in SKILL_TOOLS:",
        "if item.name in ():",
    ),
    Mutation(
        "S0-26",
        "agent_core/context/compaction/plan.py",
        "compaction is due at half of the window",
        "COMPACT_AT = 0.80",
        "COMPACT_AT = 0.50",
    ),
    Mutation(
        "S0-33",
        "agent_core/models/tokens.py",
        "Chinese is counted as if it were English",
        "return wide + math.ceil((len(text) - wide) / 4)",
        "return math.ceil(len(text) / 4)",
    ),
    Mutation(
        "S1-12",
        "agent_core/skills/loaded_skills.py",
        "a skill may have one token less",
        "SKILL_TOKENS = 8_000",
        "SKILL_TOKENS = 7_999",
    ),
    Mutation(
        "S1-13",
        "agent_core/skills/token_budget.py",
        "skills may fill the whole window",
        "CEILING = 0.9",
        "CEILING = 1.0",
    ),
    Mutation(
        "S1-18",
        "agent_core/skills/chat_skills.py",
        "a reference that is loaded is loaded again",
        "if path in item.references:",
        "if path in ():",
    ),
    Mutation(
        "S1-22",
        "agent_core/skills/token_budget.py",
        "the last nine messages are looked at",
        "RECENT = 10",
        "RECENT = 9",
    ),
    Mutation(
        "D-10",
        "agent_core/skills/chat_skills.py",
        "a model unloads what a person holds",
        "if item.held and not by_person:",
        "if item.held and by_person is None:",
    ),
    Mutation(
        "S2-22",
        "agent_core/loop/model_call.py",
        "a call that stands twice is made twice",
        "if part.id and plain in seen:",
        "if False:",
    ),
    Mutation(
        "S2-28",
        "agent_core/tool_result.py",
        "a failure may be a page long",
        "{fact[:200]}",
        "{fact[:2000]}",
    ),
    Mutation(
        "S2-34",
        "agent_core/context/prompt.py",
        "the prompt has no safety rules",
        "safety: str = SAFETY",
        'safety: str = ""',
    ),
    Mutation(
        "S2-42",
        "gateway/chat/run_pace.py",
        "a person may cause eleven runs at once",
        "BURST = 10",
        "BURST = 11",
    ),
    Mutation(
        "S2-43",
        "gateway/store/inbox.py",
        "an event that comes again is a new one",
        "(event.event_id, str(event.chat),",
        "(f'{event.event_id} {now}', str(event.chat),",
    ),
    Mutation(
        "S0-22",
        "agent_core/loop/state.py",
        "calls are not counted",
        "state.tool_call_count += event.attempts > 0",
        "state.tool_call_count += 0",
    ),
    Mutation(
        "S3-19",
        "agent_core/loop/state.py",
        "turns with tools are not counted",
        "state.turn_count = event.turn",
        "state.turn_count = max(1, state.turn_count)",
    ),
    Mutation(
        "S4-22",
        "agent_core/loop/execution.py",
        "updates of a call that has ended are told",
        "            settled = True",
        "            settled = False",
    ),
    Mutation(
        "S4-24",
        "agent_core/loop/gate.py",
        "other words than the seed's",
        'SKIPPED = "Skipped due to queued user message."',
        'SKIPPED = "Skipped."',
    ),
    Mutation(
        "S4-30",
        "agent_core/loop/decision.py",
        "follow-ups come before steering",
        "_steering(run) or _rest_of_answer(engine, run, message.stop_reason) or _follow_up(run)",
        "_follow_up(run) or _rest_of_answer(engine, run, message.stop_reason) or _steering(run)",
    ),
    Mutation(
        "S4-31",
        "agent_core/loop/queues.py",
        "a queue never comes all at once",
        'if mode == "all":',
        'if mode == "none":',
    ),
    Mutation(
        "C-03",
        "agent_core/loop/calls.py",
        "calls that change things run together",
        "if all(self._is_parallel(call) for call in self._batch.calls)",
        "if any(self._is_parallel(call) for call in self._batch.calls)",
    ),
    Mutation(
        "C-04",
        "agent_core/loop/execution.py",
        "every failure is tried again",
        'return tool.retry == "always" and not isinstance(error, ToolFailed)',
        "return True",
    ),
    Mutation(
        "C-05",
        "agent_core/loop/retry.py",
        "waits do not grow",
        "self.base_delay_s * 2 ** (attempt - 1)",
        "self.base_delay_s * attempt",
    ),
    Mutation(
        "S3-16",
        "agent_core/loop/decision.py",
        "a request that is too long is compacted again and again",
        "if engine.compactor is None or run.state.has_attempted_reactive_compact:",
        "if engine.compactor is None:",
    ),
    Mutation(
        "S3-17",
        "agent_core/loop/state.py",
        "what was summarised is shown beside the summary",
        "return [summary, *_shortened(kept, summary.short_until), *messages[place + 1 :]]",
        "return [summary, *messages[:place], *messages[place + 1 :]]",
    ),
    Mutation(
        "S2-46",
        "gateway/schedule/heartbeat/gates.py",
        "a message more than was said to be enough",
        "if facts.said_today >= heartbeat.most_a_day:",
        "if facts.said_today > heartbeat.most_a_day:",
    ),
    Mutation(
        "S2-47",
        "gateway/schedule/jobs/job_runs.py",
        "a fourth run of a job begins beside three",
        "MOST_AT_ONCE = 3",
        "MOST_AT_ONCE = 4",
    ),
    Mutation(
        "S2-48",
        "gateway/schedule/jobs/chat_notes.py",
        "the model does not see what was posted",
        "            to_model=True,\n        )",
        "            to_model=False,\n        )",
    ),
    Mutation(
        "C-32",
        "gateway/schedule/zones.py",
        "a chat goes by the zone of the house, whatever was said there",
        "if (name := self._own.get(str(key))) and is_zone(name):",
        "if (name := self._own.get(str(level))) and is_zone(name):",
    ),
    Mutation(
        "D-16",
        "gateway/schedule/heartbeat/chat_state.py",
        "greetings are not counted with the rest",
        "return sum(map(arrived, self.today))",
        "return sum(map(arrived, ()))",
    ),
)
