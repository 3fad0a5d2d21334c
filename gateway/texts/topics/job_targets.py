"""Texts about reports and reminders that are posted in other chats."""

TEXTS = {
    "target_group": {"en": "{name} on {platform}", "zh": "{platform} 的 {name}"},
    "target_private": {"en": "your chat on {platform}", "zh": "您在 {platform} 的私聊"},
    "target_here": {"en": "this chat", "zh": "本聊天"},
    "target_fact": {"en": "**Posted in:** {places}", "zh": "**发布到**：{places}"},
    "target_wanted": {
        "en": "{where} (asked there first, with these words; until it agrees, it comes here)",
        "zh": "{where}（会先在那里用这段文字征求同意；同意之前发到这里）",
    },
    "target_asked": {"en": "{where} (asked, no answer yet)", "zh": "{where}（已询问，尚未答复）"},
    "target_refused_place": {"en": "{where} (refused)", "zh": "{where}（已拒绝）"},
    "target_gone_place": {"en": "{where} (takes no messages)", "zh": "{where}（无法接收消息）"},
    "target_asks": {
        "en": "**{who} would like a report to be posted here:**\n\n> {words}\n\n- **When:** {rule} ({zone})\n- It is "
        "made in another chat, with what {who} may see there. Anybody here can end it at any time.",
        "zh": "**{who} 希望把一份报告发到这里：**\n\n> {words}\n\n- **时间**：{rule}（{zone}）\n- 报告在另一个聊天中"
        "生成，使用 {who} 在那里的权限。这里的任何人都可以随时停止。",
    },
    "target_asks_reminder": {
        "en": "**{who} would like a reminder to be posted here:**\n\n> {words}\n\n- **When:** {rule} ({zone})\n"
        "- Anybody here can end it at any time.",
        "zh": "**{who} 希望把一条提醒发到这里：**\n\n> {words}\n\n- **时间**：{rule}（{zone}）\n"
        "- 这里的任何人都可以随时停止。",
    },
    "target_allow_button": {"en": "Allow", "zh": "同意"},
    "target_refuse_button": {"en": "No", "zh": "不同意"},
    "target_stop_button": {"en": "Stop this here", "zh": "不再发到这里"},
    "target_allow_again_button": {"en": "Allow again", "zh": "重新同意"},
    "target_allowed_here": {
        "en": "✓ {who} agreed: the {kind} `{id}` is posted here from now on, {rule}.",
        "zh": "✓ {who} 已同意：{kind} `{id}` 今后会发到这里，{rule}。",
    },
    "target_refused_here": {
        "en": "{who} said no: the {kind} `{id}` is not posted here.",
        "zh": "{who} 未同意：{kind} `{id}` 不会发到这里。",
    },
    "target_stopped_here": {
        "en": "The {kind} `{id}` is not posted here any more.",
        "zh": "{kind} `{id}` 不再发到这里。",
    },
    "target_not_here": {
        "en": "No report or reminder `{id}` from another chat was to be posted here.",
        "zh": "没有要发到这里的报告或提醒 `{id}`。",
    },
    "target_below": {
        "en": "A {kind} of {who} from another chat. `{slash}cron stop {id}` ends it here.",
        "zh": "来自另一个聊天的{kind}，由 {who} 设置。发送 `{slash}cron stop {id}` 可停止发到这里。",
    },
    "target_allowed": {
        "en": "✓ {where}: {who} agreed. The {kind} `{id}` is posted there from now on.",
        "zh": "✓ {where}：{who} 已同意。{kind} `{id}` 今后会发到那里。",
    },
    "target_refused": {
        "en": "{where}: {who} said no. The {kind} `{id}` comes here.",
        "zh": "{where}：{who} 未同意。{kind} `{id}` 会发到这里。",
    },
    "target_stopped": {
        "en": "{where}: {who} ended the {kind} `{id}` there. It comes here from now on.",
        "zh": "{where}：{who} 停止了{kind} `{id}`。今后会发到这里。",
    },
    "target_no_right": {
        "en": "You may not have jobs in {where} any more, so the {kind} `{id}` comes here.",
        "zh": "您不再有权在 {where} 设置日程，{kind} `{id}` 会发到这里。",
    },
    "target_gone": {
        "en": "{where} takes no messages from me ({why}), so the {kind} `{id}` comes here.",
        "zh": "{where} 无法接收我的消息（{why}），{kind} `{id}` 会发到这里。",
    },
    "target_came_back": {"en": "_This did not arrive in {where}._", "zh": "_这条消息未能送达 {where}。_"},
    "target_came_back_why": {
        "en": "_This did not arrive in {where}: {why}._",
        "zh": "_这条消息未能送达 {where}：{why}。_",
    },
    "target_came_back_gone": {
        "en": "_This did not arrive in the chat that it was for._",
        "zh": "_这条消息未能送达目标聊天。_",
    },
    "target_unknown_name": {
        "en": "I know no chat {name} in which you have talked to me. Those that I know are {places}. If it is one "
        'more, talk to me there first. If it is no chat, put it in quotation marks: `"{quoted}"`.',
        "zh": "我不知道您与我交谈过的聊天 {name}。我知道的有：{places}。如果是其他聊天，请先在那里与我说一句话。"
        '如果这不是聊天，请给它加上引号：`"{quoted}"`。',
    },
    "target_unknown_name_none": {
        "en": "I know no chat {name} in which you have talked to me. Talk to me there first; on another platform, link "
        'your accounts with `{slash}link`. If it is no chat, put it in quotation marks: `"{quoted}"`.',
        "zh": "我不知道您与我交谈过的聊天 {name}。请先在那里与我说一句话；"
        '如果在其他平台，请用 `{slash}link` 关联您的账号。如果这不是聊天，请给它加上引号：`"{quoted}"`。',
    },
    "target_ambiguous": {
        "en": "There are several chats of that name. Say which one: {places}.",
        "zh": "有多个同名的聊天，请写明是哪一个：{places}。",
    },
    "target_not_linked": {
        "en": "I know no chat with you on {platform}. Link your accounts with `{slash}link` first.",
        "zh": "我不知道您在 {platform} 的聊天。请先用 `{slash}link` 关联您的账号。",
    },
    "target_too_many": {"en": "It can be posted in {most} chats at most.", "zh": "最多发到 {most} 个聊天。"},
    "target_asked_much": {
        "en": "{where} has several such questions open. They have to be answered first.",
        "zh": "{where} 还有几个此类问题未答复，请先答复。",
    },
}
