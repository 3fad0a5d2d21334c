"""All texts of the demo model, in English and Chinese."""

import re

from msgspec import Struct


class Wording(Struct, frozen=True):
    """The texts of one language."""

    hello: str
    help: str
    not_possible: str
    no_tool: str
    time: str
    nothing_known: str
    known: str
    remembered: str
    forgotten: str
    file: str
    files: str
    failing: str
    failing_by_chance: str
    waited: str
    chart: str
    counted: str
    counted_instead: str
    counted_too_far: str
    begun: str
    remind_when: str
    remind_otherwise: str
    """Of a time that could not be read; the tool says in English why."""
    proposed: str
    will_remind: str
    planned: str
    planned_line: str
    nothing_planned: str
    unscheduled: str
    why: str
    report_title: str
    report_files: str
    report_numbers: str
    report_lower: str
    report_higher: str
    report_same: str
    report_nothing: str
    digest_title: str
    usage: str
    page: str
    page_first: str
    page_which: str
    check_in: str
    check_in_due: str
    greeting: str
    reported: str
    reported_failure: str
    reported_stop: str
    flight_ask: str
    flight_from: str
    flight_to: str
    flight_day: str
    flight_and: str
    flight_found: str
    flight_unknown: str
    plan_look: str
    plan_wait: str
    plan: str
    plan_then: str
    plan_empty: str
    picture: str
    attached: str
    document: str
    long_intro: str
    long_part: str
    weekdays: str


ENGLISH = Wording(
    hello=(
        "I am Parley's **demo model**: a few plain rules, no AI, but with real tools. Try:\n\n"
        "- `what time is it in Tokyo?`\n"
        "- `remind me in 1 minute to stretch`\n"
        "- `chart sales.csv`\n\n"
        "Ask `what can you do?` for more. For real answers run `parley connect model`."
    ),
    help=(
        "I am Parley's **demo model**: a few plain rules, no AI. My tools are real, though. Try:\n\n"
        "- `what time is it in Tokyo?`\n"
        "- `what is 17 * 23?`\n"
        "- `remember: buy milk`, then `what do you remember?`\n"
        "- `read welcome.txt`\n"
        "- `plan my day` (two tools, with progress)\n"
        "- `chart sales.csv` (loads a skill and runs its script)\n"
        "- `book a flight from Beijing to Tokyo tomorrow` (another skill)\n"
        "- `count to 20`, and while it counts `no, to 5`, or `/stop`\n"
        "- `in the background: count to 5`\n"
        "- `remind me in 1 minute to stretch`, then `what is scheduled?`\n"
        "- `every weekday at nine send me a report of my notes`\n"
        "- `show me a failing tool`\n\n"
        "Commands: `/report`, `/heartbeat`, `/skills`, `/tasks`, `/context`, `/help` (or `!help`).\n\n"
        "For real answers connect a real model: under *Manage*, *Connect* on the page, or with `parley connect model`."
    ),
    not_possible="That did not work: {fact}.",
    no_tool="For that I would need the tool `{tool}`, which is not switched on here.",
    time="It is {fact}.",
    nothing_known="I remember nothing yet. Write `remember: buy milk` to change that.",
    known="What I remember:\n\n{fact}",
    remembered="I will remember: {subject}",
    forgotten="{fact}",
    file="This is `{subject}`:\n\n{fact}",
    files="The files of this chat:\n\n{fact}",
    failing=(
        "I read a file that does not exist, and the tool said:\n\n> {fact}\n\n"
        "That is how a failing tool looks: the run goes on, and a real model would now try another way."
    ),
    failing_by_chance="I wanted to show a tool that fails, but this one worked.",
    waited="I have waited.",
    chart="I drew `{subject}` with a script that ran in the sandbox, and sent you the picture.",
    counted="Counted to {number}.",
    counted_instead="You said {number} instead of {before} while I was counting, and here I am: {number}.",
    counted_too_far="I had counted to {number} already when you said {wanted}, so I stopped there.",
    begun=(
        "That is being done in the background. Go on talking: I will tell you when it is over. "
        "`/tasks` (or `!tasks`) shows it."
    ),
    remind_when="When, and of what? Say it as in `remind me in 20 minutes to stretch`, or with `tomorrow at 9:00`, "
    "`every weekday at 9:00`, `every other monday at 9:00` or `every hour from 9 to 17`.",
    remind_otherwise="{fact}.",
    proposed="I only propose this; your yes sets it.",
    will_remind="I will.",
    planned="What is planned here (`/cron` has buttons for it):",
    planned_line="- `{id}` {what}: {rule}, {state}",
    nothing_planned="Nothing is planned here. Try `remind me in 1 minute to stretch`.",
    unscheduled="`{id}` is removed.",
    why=(
        "The report says:\n\n{lines}\n\nThat is all I can tell: I am plain rules, no AI. A real model sees "
        "the whole report, and would look into the files now."
    ),
    report_title="**Your report (plain rules, no AI)**",
    report_files="New or changed:",
    report_numbers="`{path}`, {last} beside {before}:",
    report_lower="- {name}: {new}, lower than {old}",
    report_higher="- {name}: {new}, higher than {old}",
    report_same="- {name}: {new}, as before",
    report_nothing="Nothing has changed since yesterday, so there is nothing to report.",
    digest_title="**Said here in the last day (plain rules, no AI)**",
    usage="**Used in the last {days} days (plain rules, no AI)**\n\n"
    "- Calls: {calls}\n- Tokens: {tokens}\n- Cost: {cost}",
    page="**New on {address} (plain rules, no AI)**",
    page_first="**From now on I tell what is new on {address} (plain rules, no AI). There now:**",
    page_which="Which page? The address was not named.",
    check_in="On your list: {line}",
    check_in_due="This needs you: {line}",
    greeting="Hello! All is quiet here.",
    reported="What you wanted in the background is done (`{what}`): {report}",
    reported_stop="What you wanted in the background was stopped (`{what}`).",
    reported_failure="What you wanted in the background did not work (`{what}`): {report}",
    flight_ask="I can look that up. Please say {missing}. (One person and economy, unless you say otherwise.)",
    flight_from="which city you leave from",
    flight_to="which city you fly to",
    flight_day="on which day (`tomorrow`, or a date such as 2027-05-01)",
    flight_and=" and ",
    flight_found=(
        "From {start} to {end}, {day}:\n\n{options}\n\n"
        "This is a sample timetable: the flights are not real, and nothing is booked. "
        "For another city or day just say so, as in `to Osaka` or `the day after tomorrow`."
    ),
    flight_unknown=(
        "{city} is not in the timetable, so I looked into the skill's reference. It has {cities}.\n\n"
        "Say another one, as in `to {other}`."
    ),
    plan_look="I look at what I remember and at the clock.",
    plan_wait="And now a moment of pretended thinking, so that you can see the progress.",
    plan="**Your day** (sorted by plain rules, no AI)\n\n- Now: {now}",
    plan_then="- Then: {fact}",
    plan_empty="- I remember nothing to plan with. Write `remember: buy milk` first.",
    picture="I received {count} picture(s), but the demo model is no AI and cannot look at pictures.",
    attached="I received this: {attached}",
    document="A real model would read this in {name}; the demo model is no AI and cannot answer about it:\n\n"
    "```\n{text}\n```",
    long_intro="# A long answer\n\nThis text shows how Parley splits what is too long for one message.",
    long_part="Part {number} has a few words, a list and some code that must stay in one piece:",
    weekdays="",
)

CHINESE = Wording(
    hello=(
        "我是 Parley 的**演示模型**：只有几条简单的规则，不是人工智能，但工具是真的。可以试试：\n\n"
        "- `东京几点？`\n"
        "- `1分钟后提醒我喝水`\n"
        "- `画图 sales.csv`\n\n"
        "想看更多，请问 `你会什么？`。想要真正的回答，请运行 `parley connect model`。"
    ),
    help=(
        "我是 Parley 的**演示模型**：只有几条简单的规则，不是人工智能。不过我用的工具是真的。可以试试：\n\n"
        "- `东京几点？`\n"
        "- `计算 17 * 23`\n"
        "- `记住：买牛奶`，然后 `你记得什么？`\n"
        "- `读 welcome.txt`\n"
        "- `计划我的一天`（两个工具，可以看到进度）\n"
        "- `画图 sales.csv`（加载技能并运行它的脚本）\n"
        "- `我想订一张去东京的机票`（另一个技能）\n"
        "- `数到 20`，数的时候说 `不，到 5`，或者 `/stop`\n"
        "- `在后台：数到 5`\n"
        "- `1分钟后提醒我喝水`，然后 `有哪些提醒？`\n"
        "- `每个工作日九点给我发笔记报告`\n"
        "- `演示工具出错`\n\n"
        "命令：`/report`、`/heartbeat`、`/skills`、`/tasks`、`/context`、`/help`（或 `!help`）。\n\n"
        "想要真正的回答，请连接真正的模型：在网页的“管理”、“连接”中，或运行 `parley connect model`。"
    ),
    not_possible="没有成功：{fact}。",
    no_tool="这需要工具 `{tool}`，但这里没有启用它。",
    time="现在是 {fact}。",
    nothing_known="我还没有记住什么。试试写 `记住：买牛奶`。",
    known="我记得：\n\n{fact}",
    remembered="我会记住：{subject}",
    forgotten="已忘掉第 {subject} 条。",
    file="这是 `{subject}`：\n\n{fact}",
    files="这个聊天的文件：\n\n{fact}",
    failing=(
        "我读了一个不存在的文件，工具回答说：\n\n> {fact}\n\n工具出错就是这样：任务会继续，真正的模型会换一种办法。"
    ),
    failing_by_chance="我本想演示一个出错的工具，但它居然成功了。",
    waited="等好了。",
    chart="我用一个在沙箱中运行的脚本画出了 `{subject}`，图片已经发给您了。",
    counted="数到 {number} 了。",
    counted_instead="我数的时候您把 {before} 改成了 {number}，所以数到 {number} 为止。",
    counted_too_far="您说 {wanted} 的时候我已经数到 {number} 了，就停在这里。",
    begun="已经在后台进行了。您可以继续聊别的，完成后我会告诉您。`/tasks`（或 `!tasks`）可以查看。",
    remind_when="请告诉我时间和内容，例如 `20分钟后提醒我喝水`、`明天9点提醒我……`、`每个工作日9点提醒我……`、"
    "`每两周周一9点提醒我……`。",
    remind_otherwise="我没能读懂这个时间。请这样写：`20分钟后提醒我喝水`、`明天9点提醒我……`、`明天东京时间9点提醒我……`。",
    proposed="我只是提议，您确认之后才会设置。",
    will_remind="好的，到时提醒您。",
    planned="这里的安排（`/cron` 可查看时间并修改）：",
    planned_line="- `{id}` {what}",
    nothing_planned="这里还没有安排。试试 `1分钟后提醒我喝水`。",
    unscheduled="`{id}` 已删除。",
    why=(
        "报告里写着：\n\n{lines}\n\n我只知道这些：我只是几条简单的规则，不是人工智能。真正的模型能看到整份报告，"
        "并会去查看文件。"
    ),
    report_title="**您的报告（简单规则，不是人工智能）**",
    report_files="新的或有改动的：",
    report_numbers="`{path}`，{last} 与 {before} 相比：",
    report_lower="- {name}：{new}，低于 {old}",
    report_higher="- {name}：{new}，高于 {old}",
    report_same="- {name}：{new}，不变",
    report_nothing="从昨天到现在没有变化，没有可报告的内容。",
    digest_title="**最近一天这里对我说的话（简单规则，不是人工智能）**",
    usage="**最近 {days} 天的用量（简单规则，不是人工智能）**\n\n- 调用：{calls} 次\n- 词元：{tokens}\n- 费用：{cost}",
    page="**{address} 上的新内容（简单规则，不是人工智能）**",
    page_first="**今后 {address} 有新内容我会告诉您（简单规则，不是人工智能）。现在有：**",
    page_which="要看哪个网页？没有写地址。",
    check_in="您的列表上有：{line}",
    check_in_due="这件事需要您：{line}",
    greeting="您好！这里一切平静。",
    reported="后台任务完成了（`{what}`）：{report}",
    reported_stop="后台任务已停止（`{what}`）。",
    reported_failure="后台任务没有成功（`{what}`）：{report}",
    flight_ask="可以查。请告诉我{missing}。（默认 1 人、经济舱）",
    flight_from="从哪个城市出发",
    flight_to="去哪个城市",
    flight_day="哪一天（例如`明天`，或 2027-05-01）",
    flight_and="、",
    flight_found=(
        "从{start}到{end}，{day}：\n\n{options}\n\n"
        "这是示例时刻表：不是真实航班，也没有预订任何东西。想换城市或日期，直接说即可，例如`去大阪`或`后天`。"
    ),
    flight_unknown=(
        "时刻表里没有{city}，所以我查了技能的参考资料。有这些城市：{cities}。\n\n换一个城市即可，例如`去{other}`。"
    ),
    plan_look="我先看看我记得什么，再看看时间。",
    plan_wait="再假装思考一下，让您看到进度。",
    plan="**您的一天**（按简单规则排列，不是人工智能）\n\n- 现在：{now}",
    plan_then="- 然后：{fact}",
    plan_empty="- 没有可以安排的事。先写 `记住：买牛奶`。",
    picture="我收到了 {count} 张图片，但演示模型不是人工智能，看不懂图片。",
    attached="我收到了：{attached}",
    document="真正的模型会在 {name} 中读到以下内容；演示模型不是 AI，无法据此回答：\n\n```\n{text}\n```",
    long_intro="# 一个很长的回答\n\n这段文字展示 Parley 怎样拆分一条消息放不下的内容。",
    long_part="第 {number} 部分有几句话、一个列表，还有一段不应被拆开的代码：",
    weekdays="一二三四五六日",
)

_WIDE = re.compile("[\u3400-\u9fff\uf900-\ufaff]")


def wording_for(text: str) -> Wording:
    """Return Chinese if the text has a Chinese character, else English."""
    return CHINESE if _WIDE.search(text) else ENGLISH
