"""Texts about jobs and their firings: previews, lists, errors, failure, recovery and rehearsals."""

TEXTS = {
    "job_reminder": {"en": "Reminder", "zh": "提醒"},
    "job_report": {"en": "Report", "zh": "报告"},
    "job_shall": {"en": "**Shall I set this up?** ({kind})", "zh": "**要这样设置吗？**（{kind}）"},
    "job_shall_change": {
        "en": "**Shall I change `{id}` to this?** ({kind})",
        "zh": "**要把 `{id}` 改成这样吗？**（{kind}）",
    },
    "job_with_skill": {"en": "**With the skill:** {name}", "zh": "**使用技能**：{name}"},
    "job_made_by": {"en": "**Report:** {name}, made without a model", "zh": "**报告**：{name}，不使用模型"},
    "job_as_file": {"en": "**Comes as:** a file below its title", "zh": "**形式**：标题下附文件"},
    "report_file": {"en": "report-{day}.md", "zh": "报告-{day}.md"},
    "report_sample": {"en": "**Now it would say:**", "zh": "**现在的内容会是：**"},
    "report_sample_empty": {"en": "Nothing is new.", "zh": "没有新内容。"},
    "report_choices": {"en": "Say which one:", "zh": "请选择："},
    "job_when": {"en": "**When:** {rule} ({zone})", "zh": "**时间**：{rule}（{zone}）"},
    "job_next": {"en": "**Next:** {slots}", "zh": "**接下来**：{slots}"},
    "job_quiet_waits": {
        "en": "**Quiet hours** here are {hours}: it waits until they are over.",
        "zh": "**免打扰时段**为 {hours}：会等到时段结束后再发。",
    },
    "job_quiet_comes": {
        "en": "**Quiet hours** here are {hours}; a reminder comes all the same.",
        "zh": "**免打扰时段**为 {hours}；提醒仍会照常发送。",
    },
    "job_missed_once": {
        "en": "**If I am not running then:** it comes as soon as I am back.",
        "zh": "**如果届时我没有运行**：恢复后立即补上。",
    },
    "job_missed_late": {
        "en": "**If I am not running then:** it comes once, up to {late} late; after that I skip it and say so.",
        "zh": "**如果届时我没有运行**：最多迟 {late}补一次；再晚就跳过并告诉您。",
    },
    "job_hours": {"en": "{count} h", "zh": "{count} 小时"},
    "job_minutes": {"en": "{count} min", "zh": "{count} 分钟"},
    "job_costs_nothing": {"en": "**Cost:** nothing, no model is asked.", "zh": "**费用**：无，不调用模型。"},
    "job_costs": {
        "en": "**Cost:** about {cost} each time, as the last {count}.",
        "zh": "**费用**：每次约 {cost}（最近 {count} 次的平均）。",
    },
    "job_costs_as_before": {
        "en": "**Cost:** about {cost} each time, as the last time.",
        "zh": "**费用**：每次约 {cost}（与上次相同）。",
    },
    "job_costs_guess": {
        "en": "**Cost:** about {cost} each time, a first guess.",
        "zh": "**费用**：每次约 {cost}（初步估计）。",
    },
    "job_scripts": {
        "en": "**Runs without asking you:** the scripts of the skills {skills}. Confirming allows them.",
        "zh": "**无需再询问即可运行**：技能 {skills} 的脚本。确认即表示同意。",
    },
    "job_confirm_button": {"en": "Confirm", "zh": "确认"},
    "job_change_button": {"en": "Change", "zh": "修改"},
    "job_cancel_button": {"en": "Cancel", "zh": "取消"},
    "job_test_button": {"en": "Try it once", "zh": "先试一次"},
    "job_earlier_button": {"en": "1 h earlier", "zh": "早 1 小时"},
    "job_later_button": {"en": "1 h later", "zh": "晚 1 小时"},
    "job_daily_button": {"en": "Every day", "zh": "每天"},
    "job_weekdays_button": {"en": "Weekdays only", "zh": "仅工作日"},
    "job_how_to_change": {
        "en": "Press what should be different, tell me in your own words, or say "
        "`{slash}cron change {id} every day 8:00`, with new words behind it where you like.",
        "zh": "请按按钮、用自己的话告诉我，或发送 `{slash}cron change {id} 每天8点`（后面可以接新的内容）。",
    },
    "job_set": {"en": "✓ Set (`{id}`): {rule}. Next: {next}.", "zh": "✓ 已设置（`{id}`）：{rule}。下次：{next}。"},
    "job_set_once": {"en": "✓ Set (`{id}`): {next}.", "zh": "✓ 已设置（`{id}`）：{next}。"},
    "job_changed": {
        "en": "✓ Changed (`{id}`): {rule}. Next: {next}.",
        "zh": "✓ 已修改（`{id}`）：{rule}。下次：{next}。",
    },
    "job_changed_once": {"en": "✓ Changed (`{id}`): {next}.", "zh": "✓ 已修改（`{id}`）：{next}。"},
    "job_set_now": {
        "en": "✓ I will remind you: {next} ({zone}), `{id}`.",
        "zh": "✓ 到时提醒您：{next}（{zone}），`{id}`。",
    },
    "job_undo_button": {"en": "Undo", "zh": "撤销"},
    "job_undone": {"en": "✗ Taken back, it will not come: {what}", "zh": "✗ 已撤销，不会再提醒：{what}"},
    "job_lost_right": {
        "en": "Paused, as its person may not have jobs here any more: {what}\nIt goes on when they may again.",
        "zh": "已暂停，因为创建者已无权在这里保留日程：{what}\n恢复权限后会继续。",
    },
    "job_unconfirmed": {
        "en": "You had not confirmed this reminder, and its time has come:\n\n{what}",
        "zh": "这条提醒您没有确认，现在时间到了：\n\n{what}",
    },
    "job_cancelled": {"en": "✗ Not set: {what}", "zh": "✗ 未设置：{what}"},
    "job_paused": {"en": "`{id}` is paused.", "zh": "`{id}` 已暂停。"},
    "job_resumed": {
        "en": "`{id}` goes on. Next: {next}. What came due meanwhile is not made up for.",
        "zh": "`{id}` 已恢复。下次：{next}。暂停期间的不会补发。",
    },
    "job_removed": {"en": "`{id}` is removed: {what}", "zh": "`{id}` 已删除：{what}"},
    "job_removed_unread": {"en": "`{id}` is removed.", "zh": "`{id}` 已删除。"},
    "job_runs": {"en": "Running `{id}` now. Its times stay as they are.", "zh": "正在运行 `{id}`，原定时间不变。"},
    "job_tested": {
        "en": "Running `{id}` now, for you alone. Its times stay as they are.",
        "zh": "正在为您单独运行 `{id}`，原定时间不变。",
    },
    "job_not_alone": {
        "en": "Others read here, and I know no chat with you alone. Write to me directly and try it there.",
        "zh": "这里还有其他人，而我没有与您的私聊。请先直接给我发消息，再在那里试。",
    },
    "job_unknown": {
        "en": "There is no job `{id}` here. `{slash}cron` lists what there is.",
        "zh": "这里没有编号为 `{id}` 的日程。`{slash}cron` 可列出全部。",
    },
    "job_not_yours": {
        "en": "Only the person whose job it is, or an owner or admin with no fewer rights, can change it.",
        "zh": "只有它的创建者，或权限不低于其创建者的所有者或管理员可以更改。",
    },
    "job_full": {
        "en": "There are {most} jobs here already, and that is the most. Remove one first: `{slash}cron` lists them.",
        "zh": "这里已有 {most} 个日程，达到上限。请先删除一个：`{slash}cron` 可列出全部。",
    },
    "job_full_of_person": {
        "en": "You have {most} jobs already, and that is the most for one person. Remove one first: `{slash}cron` "
        "lists those of a chat.",
        "zh": "您已有 {most} 个日程，达到每人上限。请先删除一个：`{slash}cron` 可列出当前聊天的日程。",
    },
    "job_waiting_full": {
        "en": "{most} proposals of yours wait for confirmation here already. Confirm or cancel some first: "
        "`{slash}cron` lists them.",
        "zh": "您在这里已有 {most} 个设置等待确认。请先确认或取消一些：`{slash}cron` 可列出全部。",
    },
    "job_gone": {
        "en": "That no longer waits for confirmation. Ask for it again if you still want it.",
        "zh": "它已不再等待确认。如仍需要，请重新提出。",
    },
    "job_by_new_clock": {
        "en": "The time zone is **{zone}** now, so look at the time again. Nothing is set yet.",
        "zh": "时区现在是 **{zone}**，请再看一下时间。尚未设置。",
    },
    "job_outdated": {
        "en": "This change no longer applies: it was cancelled, or the job was changed meanwhile. Look at the job as "
        "it is now, then change it again.",
        "zh": "此更改已不再适用：它已被取消，或日程在此期间被更改。请先查看日程的现状，再重新更改。",
    },
    "job_changed_since": {
        "en": "`{id}` was changed meanwhile, so nothing was done. It is now: {rule}, {what}. Look at it, then change "
        "it again.",
        "zh": "`{id}` 在此期间已被更改，因此没有执行任何操作。现在是：{rule}，{what}。请查看后再重新更改。",
    },
    "job_restored": {
        "en": "`{id}` is back: {what}. Next: {next}",
        "zh": "`{id}` 已恢复：{what}。下次：{next}",
    },
    "job_not_restorable": {
        "en": "`{id}` cannot be brought back: it was not removed, or was never set.",
        "zh": "`{id}` 无法恢复：它没有被删除，或从未设置。",
    },
    "job_was_set": {"en": "That has been set already.", "zh": "已经设置过了。"},
    "job_over": {"en": "`{id}` is over: it will not come again.", "zh": "`{id}` 已结束，不会再来。"},
    "job_is_draft": {
        "en": "`{id}` is not set yet. Confirm or cancel it first.",
        "zh": "`{id}` 尚未设置，请先确认或取消。",
    },
    "job_is_active": {"en": "`{id}` is not paused.", "zh": "`{id}` 没有暂停。"},
    "job_is_paused": {"en": "`{id}` is paused already.", "zh": "`{id}` 已经暂停了。"},
    "job_no_words": {
        "en": "It says nothing yet. Put behind the time what it is about.",
        "zh": "还没有内容，请在时间后面写上要说什么。",
    },
    "job_too_long": {
        "en": "That is too long to be shown whole before you confirm it. Please make it shorter.",
        "zh": "内容过长，无法在确认前完整显示，请写短一些。",
    },
    "job_cannot_shift": {
        "en": "I cannot move that by an hour. Say `{slash}cron change {id} every day 8:00`, say.",
        "zh": "无法整体移动一小时。可以发送例如 `{slash}cron change {id} 每天8点`。",
    },
    "cron_title": {"en": "**Jobs here** (times in {zone}):", "zh": "**这里的日程**（时区 {zone}）："},
    "reminders_title": {"en": "**Reminders here** (times in {zone}):", "zh": "**这里的提醒**（时区 {zone}）："},
    "cron_none": {
        "en": "Nothing is planned here. Tell me what you want when, or try `{slash}remind in 20m pizza` or "
        "{slash}report.",
        "zh": "这里还没有日程。直接告诉我您想在什么时候做什么，或试试 `{slash}remind 20分钟后 披萨` 或 {slash}report。",
    },
    "cron_line": {
        "en": "- `{id}` {rule} – {kind}: {what} ({state})",
        "zh": "- `{id}` {rule} – {kind}：{what}（{state}）",
    },
    "cron_line_next": {"en": "next {next}", "zh": "下次 {next}"},
    "cron_line_once": {"en": "once", "zh": "一次"},
    "cron_line_draft": {"en": "waits for your confirmation", "zh": "等待确认"},
    "cron_line_late": {"en": "its time passed without your confirmation", "zh": "未确认，时间已过"},
    "cron_more": {"en": "- and {count} more", "zh": "- 另有 {count} 个"},
    "cron_more_button": {"en": "More", "zh": "更多"},
    "pause_person": {"en": "paused", "zh": "已暂停"},
    "pause_failures": {"en": "paused after failures", "zh": "多次失败后暂停"},
    "pause_undeliverable": {"en": "paused: nothing arrives here any more", "zh": "已暂停：消息无法送达"},
    "pause_not_allowed": {"en": "paused: its owner has no access here", "zh": "已暂停：其创建者无权在此使用"},
    "pause_silence": {"en": "paused: no messages for a long time", "zh": "已暂停：很久没有人说话"},
    "pause_button": {"en": "Pause {id}", "zh": "暂停 {id}"},
    "resume_button": {"en": "Resume {id}", "zh": "恢复 {id}"},
    "show_button": {"en": "Show {id}", "zh": "查看 {id}"},
    "run_button": {"en": "Run now", "zh": "立即运行"},
    "remove_button": {"en": "Remove", "zh": "删除"},
    "cron_how": {
        "en": "Say `{slash}cron add every weekday 9:00 WORDS`, or `{slash}cron pause ID`, and in its place `resume`, "
        "`run`, `test`, `history`, `change` or `rm`. `{slash}cron` lists what there is.",
        "zh": "可用：`{slash}cron add 工作日9:00 内容`，或 `{slash}cron pause 编号`，其中 `pause` 可换成 `resume`、"
        "`run`、`test`、`history`、`change`、`rm`。`{slash}cron` 列出全部。",
    },
    "history_title": {"en": "**Last times of `{id}`:** {rule}", "zh": "**`{id}` 最近的情况**：{rule}"},
    "history_title_all": {"en": "**The last days here:**", "zh": "**这里最近几天的情况：**"},
    "history_look": {"en": "heartbeat", "zh": "心跳"},
    "history_none": {"en": "Nothing has come due yet.", "zh": "还没有到期过。"},
    "past_begun": {"en": "running", "zh": "运行中"},
    "past_done": {"en": "done", "zh": "已完成"},
    "past_nothing": {"en": "nothing to report", "zh": "无内容可报"},
    "past_failed": {"en": "failed", "zh": "失败"},
    "past_overlapped": {"en": "skipped, the time before still ran", "zh": "已跳过，上一次仍在运行"},
    "past_missed": {"en": "missed", "zh": "已错过"},
    "delivery_pending": {"en": "on its way", "zh": "发送中"},
    "delivery_sent": {"en": "sent", "zh": "已送达"},
    "delivery_held": {"en": "waits for the morning", "zh": "等到早上发送"},
    "delivery_failed": {"en": "not delivered", "zh": "未送达"},
    "by_hand": {"en": "by hand", "zh": "手动"},
    "rehearsal": {"en": "test", "zh": "测试"},
    "remind_how": {
        "en": "Say `{slash}remind in 20m pizza`, `{slash}remind tomorrow 9:00 call the bank` or "
        "`{slash}remind every weekday 9:00 stand-up`.",
        "zh": "可以发送 `{slash}remind 20分钟后 披萨`、`{slash}remind 明天9点 给银行打电话` 或 "
        "`{slash}remind 工作日9:00 站会`。",
    },
    "remind_wish": {"en": "Remind me: {words}", "zh": "提醒我：{words}"},
    "cron_wish": {"en": "Plan this: {words}", "zh": "请安排：{words}"},
    "report_ask": {
        "en": "Which report? Nothing is set before you have seen when it comes and what it costs.\n\n"
        "- **notes** – what is new in your folder of notes\n"
        "- **chat** – what was said here in the last day\n"
        "- **page** – what is new on a web page or in a feed\n"
        "- **usage** – what I have used: calls of models, tokens, cost\n{more}\n"
        "Or say when yourself: `{slash}report notes every weekday 9:00`, with more words behind it where you like.",
        "zh": "要哪一种报告？确认之前会先给您看时间和费用。\n\n"
        "- **notes** – 笔记文件夹里的新内容\n"
        "- **chat** – 这里最近一天的谈话\n"
        "- **page** – 网页或订阅源的新内容\n"
        "- **usage** – 我的用量：模型调用次数、词元、费用\n{more}\n"
        "也可以自己说时间：`{slash}report notes 工作日9:00`，后面可以接更多要求。",
    },
    "report_notes_button": {"en": "Notes", "zh": "笔记"},
    "report_chat_button": {"en": "This chat", "zh": "本聊天"},
    "report_page_button": {"en": "Web page", "zh": "网页"},
    "report_usage_button": {"en": "My usage", "zh": "用量"},
    "report_which_page": {
        "en": "Which page or feed? Say `{slash}report page every day 8:00 https://example.org/news`.",
        "zh": "要看哪个网页或订阅源？请发送 `{slash}report page 每天8点 https://example.org/news`。",
    },
    "report_notes": {
        "en": "A short report of what is new in the folder notes, with a chart where there are numbers.",
        "zh": "简要报告 notes 文件夹中的新内容，有数字时附上图表。",
    },
    "report_chat": {
        "en": "What was said in this chat in the last day: what was decided, what is open.",
        "zh": "总结本聊天最近一天的谈话：决定了什么，还有什么未定。",
    },
    "report_page": {"en": "What is new on this page or feed:", "zh": "报告这个网页或订阅源的新内容："},
    "report_usage": {
        "en": "What you have used in the last seven days: runs, tokens and cost, with a chart by day.",
        "zh": "报告最近七天的用量：运行次数、词元和费用，并按天画图。",
    },
    "report_no_skill": {
        "en": "The skill {name} is not here, so I cannot make this report.",
        "zh": "缺少技能 {name}，无法制作这个报告。",
    },
    "firing_failed": {
        "en": "⚠️ I could not do this: {what}\n{why}",
        "zh": "⚠️ 这件事没能完成：{what}\n{why}",
    },
    "firing_failed_again": {
        "en": "⚠️ I could not do this {count} times in a row: {what}\n{why}",
        "zh": "⚠️ 这件事已连续 {count} 次没能完成：{what}\n{why}",
    },
    "firing_works_again": {"en": "✅ This works again.", "zh": "✅ 现在又正常了。"},
    "firing_nothing": {"en": "There is nothing to report: {what}", "zh": "没有需要报告的内容：{what}"},
    "firing_overlapped": {
        "en": "This is being worked on already: {what}",
        "zh": "这件事已在进行中：{what}",
    },
    "firing_look": {"en": "a check-in", "zh": "例行检查"},
    "firing_rehearsal": {
        "en": "🧪 A rehearsal: only you see it, and its times stay as they are.",
        "zh": "🧪 这是试运行：只有您能看到，时间安排不变。",
    },
    "firing_cost": {"en": "It used {spent}.", "zh": "用了 {spent}。"},
    "firing_cost_nothing": {"en": "It costs nothing.", "zh": "没有费用。"},
    "cause_budget": {"en": "It would have cost more than one run may.", "zh": "费用超出了单次运行的上限。"},
    "cause_runs": {
        "en": "Reports of one person run at most {most} times a day. Have them come less often, or ask an owner.",
        "zh": "每人的报告每天最多运行 {most} 次。请降低频率，或联系所有者。",
    },
    "cause_time": {"en": "It took too long.", "zh": "耗时太长。"},
    "cause_lives": {
        "en": "Parley was cut off three times at the same point of it.",
        "zh": "处理时 Parley 在同一处连续三次被中断。",
    },
    "again_button": {"en": "Try again", "zh": "重试"},
    "cause_silent": {"en": "The model gave no answer.", "zh": "模型没有给出回答。"},
    "cause_stopped": {"en": "Somebody stopped it.", "zh": "已被人停止。"},
    "cause_mistake": {"en": "Something went wrong on our side.", "zh": "我们这边出了点问题。"},
    "cause_report": {"en": "{error}", "zh": "{error}"},
    "cause_no_kind": {
        "en": "no plugin makes this report any more.",
        "zh": "已没有插件生成这份报告。",
    },
    "cause_skill": {
        "en": "The skill {skill} that it follows cannot be used any more. Put it back, or change the job.",
        "zh": "它所用的技能 {skill} 已无法使用，请恢复该技能或修改这个日程。",
    },
    "cause_permission": {
        "en": "It needed things that somebody has to approve, and nobody can be asked then.",
        "zh": "其中有些操作需要批准，而届时无法询问任何人。",
    },
}
