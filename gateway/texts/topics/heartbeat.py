"""Texts of and about the heartbeat, and of the buttons of unprompted messages."""

TEXTS = {
    "heartbeat_offer": {
        "en": "If you like, I can check every {minutes} minutes for anything that needs you, such as a due reminder or "
        "a failed task. I write only if there is something, or to say hello after hours of silence: at most {most} "
        "times a day, never at night.",
        "zh": "需要的话，我可以每 {minutes} 分钟检查一次有没有要您处理的事，比如到期的提醒或失败的任务。"
        "有事我才会发消息，或在您几小时没说话后问候一声：每天最多 {most} 次，夜里不打扰。",
    },
    "heartbeat_accept_button": {"en": "Switch it on", "zh": "开启"},
    "heartbeat_decline_button": {"en": "No, thanks", "zh": "不用了"},
    "heartbeat_explained": {
        "en": "*(I write unasked only when something seems to need you, or to say hello; the heartbeat command changes "
        "that.)*",
        "zh": "*（只有觉得有事需要您处理，或想问候一声时，我才会主动发消息；可用 heartbeat 命令调整。）*",
    },
    "heartbeat_off_button": {"en": "Off", "zh": "关闭"},
    "heartbeat_on_button": {"en": "Switch on", "zh": "开启"},
    "heartbeat_quiet_button": {"en": "Quiet hours", "zh": "免打扰时段"},
    "heartbeat_now_button": {"en": "Check now", "zh": "立即检查"},
    "heartbeat_list_button": {"en": "Make a list", "zh": "列出事项"},
    "heartbeat_use_button": {"en": "Use this list", "zh": "使用此列表"},
    "heartbeat_plain_button": {"en": "Without a list", "zh": "不用列表"},
    "heartbeat_cancel_button": {"en": "Cancel", "zh": "取消"},
    "heartbeat_no_quiet_button": {"en": "None", "zh": "不设"},
    "heartbeat_how": {
        "en": "Say `{slash}heartbeat on`, `off`, `now`, `quiet 22-7`, `quiet off` or `snooze 3h`; "
        "`{slash}heartbeat on water the plants; look at inbox.md` adds to the list.",
        "zh": "请用 `{slash}heartbeat on`、`off`、`now`、`quiet 22-7`、`quiet off` 或 `snooze 3h`；"
        "`{slash}heartbeat on 给植物浇水；看看 inbox.md` 会加入列表。",
    },
    "heartbeat_stands_on": {
        "en": "**Heartbeat:** on. I check every {minutes} minutes and write only if something needs you, or to say "
        "hello.",
        "zh": "**心跳**：已开启。我每 {minutes} 分钟检查一次，有事或想问候时才会发消息。",
    },
    "heartbeat_stands_off": {
        "en": "**Heartbeat:** off. I write here only when I am asked.",
        "zh": "**心跳**：已关闭。只有您找我时我才会在这里发消息。",
    },
    "heartbeat_next": {"en": "**Next check:** {next}", "zh": "**下次检查**：{next}"},
    "heartbeat_last": {"en": "**Last check:** {last}: {outcome}", "zh": "**上次检查**：{last}：{outcome}"},
    "heartbeat_snoozed_until": {"en": "**Snoozed until:** {until}", "zh": "**暂停至**：{until}"},
    "heartbeat_quiet_hours": {"en": "**Quiet hours:** {quiet} ({zone})", "zh": "**免打扰时段**：{quiet}（{zone}）"},
    "heartbeat_no_quiet_hours": {"en": "**Quiet hours:** none", "zh": "**免打扰时段**：未设"},
    "heartbeat_today": {
        "en": "**Today:** {count} of at most {most} messages",
        "zh": "**今天**：{count} / 最多 {most} 条",
    },
    "heartbeat_list": {"en": "**On the list** ({file}): {count}", "zh": "**列表**（{file}）：{count} 项"},
    "heartbeat_due": {"en": "**Due or stuck:** {count}", "zh": "**到期或卡住**：{count} 项"},
    "heartbeat_list_unreadable": {
        "en": "**The list** ({file}) or `reminders.md` cannot be read, so nothing is checked. It must be short text.",
        "zh": "**列表**（{file}）或 `reminders.md` 无法读取，因此不会检查：请改为简短的文本文件。",
    },
    "heartbeat_is_off": {"en": "it is off", "zh": "已关闭"},
    "heartbeat_is_snoozed": {"en": "silent, it is snoozed", "zh": "保持安静：已暂停"},
    "heartbeat_is_quiet": {"en": "silent, these are quiet hours", "zh": "保持安静：现在是免打扰时段"},
    "heartbeat_never_wrote": {"en": "silent, you have never written here", "zh": "保持安静：您还没有在这里发过消息"},
    "heartbeat_is_busy": {"en": "silent, I was busy here", "zh": "保持安静：我正在这里处理别的事"},
    "heartbeat_just_wrote": {"en": "silent, you had just written", "zh": "保持安静：您刚刚发过消息"},
    "heartbeat_said_enough": {"en": "silent, I had said enough for the day", "zh": "保持安静：今天已经说得够多了"},
    "heartbeat_used_enough": {
        "en": "silent, the checks of the day have used up their budget",
        "zh": "保持安静：今天的检查已用完模型额度",
    },
    "heartbeat_nothing": {"en": "silent, there was nothing to check", "zh": "保持安静：没有需要检查的事"},
    "heartbeat_unreadable": {"en": "silent, the list could not be read", "zh": "保持安静：列表无法读取"},
    "heartbeat_spoke": {"en": "I wrote to you", "zh": "给您发了消息"},
    "heartbeat_all_well": {"en": "I checked, and nothing needed you", "zh": "检查过了，没有需要您处理的事"},
    "heartbeat_failed": {"en": "the check failed", "zh": "检查失败"},
    "heartbeat_gave_up": {"en": "I stopped after repeated failures", "zh": "因连续失败，已停止检查"},
    "heartbeat_was_forgotten": {
        "en": "I stopped because you had not written for a long time",
        "zh": "因您很久没有发消息，已停止检查",
    },
    "heartbeat_nothing_found": {
        "en": "I have checked: nothing needs you now.",
        "zh": "检查过了：现在没有需要您处理的事。",
    },
    "heartbeat_nothing_there": {
        "en": "There is nothing to check: no list, and nothing is due.",
        "zh": "没有需要检查的：没有列表，也没有到期的事。",
    },
    "heartbeat_looking": {"en": "I am checking.", "zh": "正在检查。"},
    "heartbeat_switched_off": {
        "en": "The heartbeat is off. I write here only when I am asked, or for jobs that you have made.",
        "zh": "心跳已关闭。只有您找我，或您设定的日程到点时，我才会在这里发消息。",
    },
    "heartbeat_was_off": {"en": "The heartbeat is off already.", "zh": "心跳本来就是关闭的。"},
    "heartbeat_switched_on": {
        "en": "The heartbeat is on. Next check: {next}.",
        "zh": "心跳已开启。下次检查：{next}。",
    },
    "heartbeat_list_title": {"en": "What to check", "zh": "需要留意的事"},
    "heartbeat_list_first": {
        "en": "Something that I said I would do today, and that is not ticked in my notes",
        "zh": "我说过今天要做、笔记里还没有打勾的事",
    },
    "heartbeat_list_second": {
        "en": "A file in the folder inbox/ that is new since yesterday",
        "zh": "inbox/ 文件夹里昨天以来的新文件",
    },
    "heartbeat_preview": {
        "en": "This is what I would check, from `{file}`:\n\n```\n{text}\n```\n\nI would do so every {minutes} "
        "minutes outside of quiet hours ({quiet}), about {looks} short model calls a day, and write at most "
        "{most} times. What else? `{slash}heartbeat on water the plants; look at notes.md` makes another list, and you "
        "can change it at any time.",
        "zh": "我会留意这些（`{file}`）：\n\n```\n{text}\n```\n\n免打扰时段（{quiet}）之外每 {minutes} 分钟检查一次，"
        "每天约 {looks} 次简短的模型调用，最多发 {most} 条消息。还有别的吗？"
        "`{slash}heartbeat on 给植物浇水；看看 notes.md` 会另列一份，您也可以随时自己改。",
    },
    "heartbeat_without_quiet": {"en": "none", "zh": "无"},
    "heartbeat_draft_gone": {
        "en": "That list is not there any more. `{slash}heartbeat on` shows one again.",
        "zh": "那份列表已经不在了。`{slash}heartbeat on` 会再显示一次。",
    },
    "heartbeat_dropped": {"en": "Then it stays as it is.", "zh": "那就保持原样。"},
    "heartbeat_list_failed": {"en": "I could not write the list: {fact}.", "zh": "无法写入列表：{fact}。"},
    "heartbeat_not_yours": {
        "en": "Only the user whose heartbeat this is, or an owner or admin, can change that.",
        "zh": "只有心跳的使用者、所有者或管理员可以更改。",
    },
    "heartbeat_quiet_set": {
        "en": "I am quiet from {quiet} ({zone}). Reminders still come on time.",
        "zh": "{quiet}（{zone}）我会保持安静。提醒仍会准时发送。",
    },
    "heartbeat_quiet_unset": {"en": "There are no quiet hours any more.", "zh": "已取消免打扰时段。"},
    "heartbeat_quiet_ask": {"en": "When shall I be quiet? ({zone})", "zh": "什么时候保持安静？（{zone}）"},
    "heartbeat_snoozed": {"en": "I check again from {until}.", "zh": "{until} 之后恢复检查。"},
    "heartbeat_snooze_how": {
        "en": "Say for how long: `{slash}heartbeat snooze 3h`, `30m` or `2d`.",
        "zh": "请说明多久：`{slash}heartbeat snooze 3h`、`30m` 或 `2d`。",
    },
    "heartbeat_off_here": {
        "en": "There is no heartbeat here. `{slash}heartbeat on` begins one.",
        "zh": "这里没有心跳。用 `{slash}heartbeat on` 开启。",
    },
    "heartbeat_stopped_failing": {
        "en": "The check of this chat has failed {count} times in a row, so I have stopped it. "
        "`{slash}heartbeat on` begins again.",
        "zh": "这个聊天的检查已连续失败 {count} 次，因此停止。用 `{slash}heartbeat on` 可以重新开启。",
    },
    "heartbeat_stopped_silence": {
        "en": "You have not written here for {days} days, so I have stopped checking in. "
        "`{slash}heartbeat on` starts again.",
        "zh": "您已经 {days} 天没有在这里发消息，我就不再来打扰了。用 `{slash}heartbeat on` 可以重新开启。",
    },
    "proactive_report": {"en": "**Report: {what}**", "zh": "**报告：{what}**"},
    "proactive_notes": {"en": "**What is new in your notes**", "zh": "**笔记日报**"},
    "proactive_chat": {"en": "**What was said here**", "zh": "**聊天摘要**"},
    "proactive_page": {"en": "**News from the page**", "zh": "**网页更新**"},
    "proactive_usage": {"en": "**What I have used**", "zh": "**用量报告**"},
    "proactive_digest": {"en": "**While it was quiet:**", "zh": "**免打扰时段内的消息：**"},
    "proactive_snooze_button": {"en": "Snooze 1 h", "zh": "1 小时后再提醒"},
    "proactive_done_button": {"en": "Done", "zh": "完成"},
    "proactive_less_button": {"en": "Less like this", "zh": "少发这类"},
    "proactive_later_button": {"en": "In 3 h instead", "zh": "改为 3 小时后"},
    "proactive_morning_button": {"en": "Tomorrow morning", "zh": "明天早上"},
    "proactive_pause_button": {"en": "Pause it", "zh": "暂停"},
    "proactive_weekly_button": {"en": "Weekly", "zh": "改为每周"},
    "proactive_remove_button": {"en": "Remove it", "zh": "删除"},
    "proactive_keep_button": {"en": "Leave it", "zh": "保持不变"},
    "proactive_off_button": {"en": "Turn off", "zh": "关闭"},
    "proactive_set_by": {"en": "Set by {who}, not in this chat.", "zh": "由 {who} 在别处设置。"},
    "proactive_done": {"en": "✓ Done", "zh": "✓ 已完成"},
    "proactive_snoozed": {"en": "💤 Again {when}", "zh": "💤 {when} 再提醒"},
    "proactive_less": {"en": "↓ From now on at most {most} a day.", "zh": "↓ 今后每天最多 {most} 条。"},
    "proactive_least": {
        "en": "↓ It is one a day at most already. I will be choosier.",
        "zh": "↓ 现在已是每天最多一条。我会更谨慎。",
    },
    "proactive_rarer": {"en": "↓ What shall become of it?", "zh": "↓ 要怎么调整？"},
    "proactive_was_once": {"en": "↓ It came only this once.", "zh": "↓ 它只发这一次。"},
    "proactive_paused": {"en": "⏸ Paused (`{id}`)", "zh": "⏸ 已暂停（`{id}`）"},
    "proactive_weekly": {"en": "↓ Every week now. Next {when}", "zh": "↓ 已改为每周。下次：{when}"},
    "proactive_removed": {"en": "✗ Removed (`{id}`)", "zh": "✗ 已删除（`{id}`）"},
    "proactive_kept": {"en": "✓ It stays as it is.", "zh": "✓ 保持不变。"},
    "proactive_unknown": {"en": "I do not know that message any more.", "zh": "我已经找不到那条消息了。"},
}
