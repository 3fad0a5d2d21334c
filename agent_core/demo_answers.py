"""What the demo model says, in English and Chinese, from what its tools found."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

from agent_core.demo_intents import Intent, Topic, Use, length_of


@dataclass(frozen=True)
class Outcome:
    """What came of a tool call."""

    use: Use
    text: str
    failed: bool

    @property
    def fact(self) -> str:
        """Without the advice to the model that follows a failure."""
        return self.text.removeprefix("Error: ").split(". Next: ", 1)[0] if self.failed else self.text


@dataclass(frozen=True)
class Wording:
    """Every sentence of the demo model in one language."""

    help: str
    not_possible: str
    no_tool: str
    time: str
    nothing_known: str
    known: str
    remembered: str
    known_before: str
    forgotten: str
    file: str
    files: str
    failing: str
    failing_by_chance: str
    waited: str
    chart: str
    plan_look: str
    plan_wait: str
    plan: str
    plan_then: str
    plan_empty: str
    picture: str
    attached: str
    long_intro: str
    long_part: str
    weekdays: str


ENGLISH = Wording(
    help=(
        "I am Parley's **demo model**: a few plain rules, no AI. My tools are real, though. Try:\n\n"
        "- `what time is it in Tokyo?`\n"
        "- `what is 17 * 23?`\n"
        "- `remember: buy milk`, then `what do you remember?`\n"
        "- `read welcome.txt`\n"
        "- `plan my day` (two tools, with progress)\n"
        "- `chart sales.csv` (runs a script; asks first)\n"
        "- `show me a failing tool`\n\n"
        "For real answers connect a real model: set `ANTHROPIC_API_KEY` in `.env`, or start Ollama, "
        "and start Parley again."
    ),
    not_possible="That did not work: {fact}.",
    no_tool="For that I would need the tool `{tool}`, which is not switched on here.",
    time="It is {fact}.",
    nothing_known="I remember nothing yet. Write `remember: buy milk` to change that.",
    known="What I remember:\n\n{fact}",
    remembered="I will remember: {subject}",
    known_before="I remember that already: {subject}",
    forgotten="{fact}",
    file="This is `{subject}`:\n\n{fact}",
    files="The files of this chat:\n\n{fact}",
    failing=(
        "I read a file that does not exist, and the tool said:\n\n> {fact}\n\n"
        "That is how a failing tool looks: the run goes on, and a real model would now try another way."
    ),
    failing_by_chance="I wanted to show a tool that fails, but this one worked.",
    waited="{fact}",
    chart="I drew `{subject}` with a script that ran shut in, and sent you the picture.",
    plan_look="I look at what I remember and at the clock.",
    plan_wait="And now a moment of pretended thinking, so that you can see the progress.",
    plan="**Your day** (sorted by plain rules, no AI)\n\n- Now: {now}",
    plan_then="- Then: {note}",
    plan_empty="- I remember nothing to plan with. Write `remember: buy milk` first.",
    picture="I received {count} picture(s), but the demo model is no AI and cannot look at pictures.",
    attached="I received this: {attached}",
    long_intro="# A long answer\n\nThis text shows how Parley splits what is too long for one message.",
    long_part="Part {number} has a few words, a list and some code that must stay in one piece:",
    weekdays="",
)

CHINESE = Wording(
    help=(
        "我是 Parley 的**演示模型**：只有几条简单的规则，不是人工智能。不过我用的工具是真的。可以试试：\n\n"
        "- `东京几点？`\n"
        "- `计算 17 * 23`\n"
        "- `记住：买牛奶`，然后 `你记得什么？`\n"
        "- `读 welcome.txt`\n"
        "- `计划我的一天`（两个工具，可以看到进度）\n"
        "- `画图 sales.csv`（要运行脚本，会先问你）\n"
        "- `演示工具出错`\n\n"
        "想要真正的回答，请连接真正的模型：在 `.env` 里设置 `ANTHROPIC_API_KEY`，或者启动 Ollama，然后重新启动 Parley。"
    ),
    not_possible="没有成功：{fact}。",
    no_tool="这需要工具 `{tool}`，但这里没有启用它。",
    time="现在是 {fact}。",
    nothing_known="我还没有记住什么。试试写 `记住：买牛奶`。",
    known="我记得：\n\n{fact}",
    remembered="我会记住：{subject}",
    known_before="这个我已经记住了：{subject}",
    forgotten="已忘掉第 {subject} 条。",
    file="这是 `{subject}`：\n\n{fact}",
    files="这个聊天的文件：\n\n{fact}",
    failing=(
        "我读了一个不存在的文件，工具回答说：\n\n> {fact}\n\n工具出错就是这样：任务会继续，真正的模型会换一种办法。"
    ),
    failing_by_chance="我本想演示一个出错的工具，但它居然成功了。",
    waited="等好了。",
    chart="我用一个在沙箱中运行的脚本画出了 `{subject}`，图片已经发给你了。",
    plan_look="我先看看我记得什么，再看看时间。",
    plan_wait="再假装思考一下，让你看到进度。",
    plan="**你的一天**（按简单规则排列，不是人工智能）\n\n- 现在：{now}",
    plan_then="- 然后：{note}",
    plan_empty="- 没有可以安排的事。先写 `记住：买牛奶`。",
    picture="我收到了 {count} 张图片，但演示模型不是人工智能，看不懂图片。",
    attached="我收到了：{attached}",
    long_intro="# 一个很长的回答\n\n这段文字展示 Parley 怎样拆分一条消息放不下的内容。",
    long_part="第 {number} 部分有几句话、一个列表，还有一段不应被拆开的代码：",
    weekdays="一二三四五六日",
)

_WIDE = re.compile("[\u3400-\u9fff\uf900-\ufaff]")
_CLOCK = re.compile(r"(?P<day>\w+), (?P<date>[0-9-]+ [0-9:]+), (?P<zone>.+)")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_NUMBERED = re.compile(r"^[0-9]+\. (.+?)(?: \([^()]+\))?$", re.MULTILINE)
"""A fact as the memory tells it, without who said it when."""
_FENCES = re.compile("`{3,}")

_CODE = """```python
def part_{number}(values: list[int]) -> int:
    total = 0
    for value in values:
        if value % {number} == 0:
            total += value
    return total
```"""


def wording_for(text: str) -> Wording:
    """Chinese where the text has a Chinese character, else English."""
    return CHINESE if _WIDE.search(text) else ENGLISH


def answer(intent: Intent, outcomes: Sequence[Outcome], wording: Wording) -> str:
    """The answer once every call of the intent has its outcome."""
    match intent.topic:
        case Topic.OTHER:
            return wording.help
        case Topic.LONG:
            return _long(length_of(intent), wording)
        case Topic.FAIL:
            return _failing(outcomes[0], wording)
        case Topic.PLAN:
            return _plan(outcomes, wording)
    if failed := next((outcome for outcome in outcomes if outcome.failed), None):
        return wording.not_possible.format(fact=failed.fact)
    return _found(intent, outcomes[0], wording)


def _found(intent: Intent, outcome: Outcome, wording: Wording) -> str:
    fact = outcome.fact
    match intent.topic:
        case Topic.TIME:
            sentence, fact = wording.time, _moment(fact, wording)
        case Topic.MATHS:
            sentence, fact = "{subject} {fact}", fact.replace("about ", "≈ ") if "about" in fact else f"= {fact}"
        case Topic.CHART:
            sentence = wording.chart
        case Topic.REMEMBER:
            sentence = wording.remembered if fact.startswith("Remembered") else wording.known_before
        case Topic.RECALL:
            sentence = wording.known if _NUMBERED.search(fact) else wording.nothing_known
        case Topic.READ | Topic.FILES:
            sentence, fact = wording.file if intent.topic is Topic.READ else wording.files, fenced(fact)
        case _:
            sentence = wording.forgotten if intent.topic is Topic.FORGET else wording.waited
    return sentence.format(subject=intent.subject, fact=fact)


def fenced(text: str) -> str:
    """The text as a code block, whatever fences it holds itself."""
    longest = max((len(found) for found in _FENCES.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{text}\n{fence}"


def _failing(outcome: Outcome, wording: Wording) -> str:
    return wording.failing.format(fact=outcome.fact) if outcome.failed else wording.failing_by_chance


def _plan(outcomes: Sequence[Outcome], wording: Wording) -> str:
    by_tool = {outcome.use.tool: outcome for outcome in outcomes}
    notes = _NUMBERED.findall(by_tool["recall"].fact)
    lines = [wording.plan.format(now=_moment(by_tool["clock"].fact, wording))]
    lines += [wording.plan_then.format(note=note) for note in notes] or [wording.plan_empty]
    return "\n".join(lines)


def _moment(fact: str, wording: Wording) -> str:
    found = _CLOCK.fullmatch(fact)
    if not found or not wording.weekdays or found["day"] not in _DAYS:
        return fact
    weekday = wording.weekdays[_DAYS.index(found["day"])]
    return f"{found['date']}，星期{weekday}，{found['zone']}"


def _long(least: int, wording: Wording) -> str:
    parts = [wording.long_intro]
    size = len(wording.long_intro)
    for number in count(1):
        if size >= least:
            break
        intro = wording.long_part.format(number=number)
        part = f"## {number}\n\n{intro}\n\n- {number} × 2 = {number * 2}\n- {number} × 3 = {number * 3}\n\n"
        part += _CODE.format(number=number)
        parts.append(part)
        size += len(part) + 2
    return "\n\n".join(parts)
