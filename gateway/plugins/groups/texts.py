"""Texts about groups: which messages are taken there, who may speak, and what tools may do."""

TEXTS = {
    "groups_not_yours": {
        "en": "Only owners and admins can change that. Ask one of them.",
        "zh": "只有所有者和管理员可以更改，请联系他们。",
    },
    "activation_mention": {
        "en": "{where} I answer only when I am mentioned or replied to.",
        "zh": "{where}，只有提到我或回复我时我才回答。",
    },
    "activation_thread": {
        "en": "{where} I answer when I am mentioned or replied to, and everything in threads that I have written in.",
        "zh": "{where}，提到我或回复我时我会回答；在我发过言的话题中，我回答每条消息。",
    },
    "activation_always": {
        "en": "{where} I answer every message of people who may speak with me. Each one may cost a run of the model; "
        "`{slash}budget here` sets a limit. If I miss messages, the platform does not show me those without a mention.",
        "zh": "{where}，凡是可以与我对话的人，我会回答其每条消息。每条消息都可能运行一次模型；"
        "`{slash}budget here` 可设上限。如果我漏掉消息，说明平台没有把未提到我的消息发给我。",
    },
    "rule_from": {"en": "This is set {level}.", "zh": "设置范围：{level}。"},
    "rule_default": {"en": "This is the default.", "zh": "这是默认设置。"},
    "rule_hidden": {
        "en": "Set {level}. But here a rule of a narrower level still holds:",
        "zh": "已设置（{level}）。但这里范围更小的规则仍然有效：",
    },
    "rule_removed": {"en": "The rule was removed {level}. Now:", "zh": "已取消规则（{level}）。现在："},
    "rule_levels": {
        "en": "End the command with `here`, `channel`, `workspace` or `everywhere` to choose where it holds; "
        "`default` takes a rule back.",
        "zh": "在命令末尾加 here（这里）、channel（频道）、workspace（工作区）或 everywhere（所有聊天）可选择范围；"
        "default（默认）取消规则。",
    },
    "tools_free": {
        "en": "In this group tools may do what the role of the person who asks allows.",
        "zh": "在本群，工具能做什么由提问者的角色决定。",
    },
    "tools_limited": {
        "en": "In this group tools may do what the role of the person who asks allows, with these limits for "
        "everybody:",
        "zh": "在本群，工具能做什么由提问者的角色决定，并对所有人有以下限制：",
    },
    "tools_deny": {
        "en": "- `{of}` ({what}): refused, set {level}",
        "zh": "- `{of}`（{what}）：禁止，设置范围：{level}",
    },
    "tools_ask": {
        "en": "- `{of}` ({what}): I ask first, set {level}",
        "zh": "- `{of}`（{what}）：先询问，设置范围：{level}",
    },
    "tools_allow": {
        "en": "- `{of}` ({what}): no limit, set {level}",
        "zh": "- `{of}`（{what}）：不限制，设置范围：{level}",
    },
    "tools_how": {
        "en": "`{slash}tools exec deny` sets a limit: read, write, net, exec, sandboxed or admin, then ask, deny, "
        "allow or default. End with `here`, `workspace` or `everywhere` for another place than this group.",
        "zh": "`{slash}tools exec deny` 设置限制：read、write、net、exec、sandboxed 或 admin，然后 ask、deny、allow "
        "或 default。末尾加 here（这里）、workspace（工作区）或 everywhere（所有聊天）可更改范围。",
    },
    "in_this_group": {"en": "In this group", "zh": "在本群"},
    "in_this_very_thread": {"en": "In this thread", "zh": "在此话题中"},
    "activation_button_mention": {"en": "Mentions only", "zh": "仅在提到时"},
    "activation_button_thread": {"en": "Also my threads", "zh": "包括我参与的话题"},
    "activation_button_always": {"en": "Every message", "zh": "每条消息"},
    "speakers_listed": {
        "en": "{where} only people with a role may speak with me; `{slash}people` lists them.",
        "zh": "{where}，只有有角色的人可以与我对话；`{slash}people` 列出他们。",
    },
    "speakers_everybody": {
        "en": "{where} everybody may speak with me as {rights}, also guests of the workspace and people of other "
        "organisations. `{slash}budget here` limits what that may cost.",
        "zh": "{where}，所有人都可以以{rights}身份与我对话，包括工作区的访客和其他组织的人。"
        "`{slash}budget here` 可限制费用。",
    },
    "speakers_role": {
        "en": "{where} everybody with the role {name} may speak with me as {rights}. `{slash}budget here` limits "
        "what that may cost.",
        "zh": "{where}，拥有角色 {name} 的人都可以以{rights}身份与我对话。`{slash}budget here` 可限制费用。",
    },
    "speakers_workspace": {
        "en": "{where} every full member of this workspace may speak with me as {rights}; its guests and people "
        "of other organisations may not. `{slash}budget here` limits what that may cost.",
        "zh": "{where}，工作区的每位正式成员都可以以{rights}身份与我对话；访客和其他组织的人不可以。"
        "`{slash}budget here` 可限制费用。",
    },
    "speakers_rights_guest": {"en": "a guest", "zh": "访客"},
    "speakers_rights_member": {"en": "a member", "zh": "成员"},
    "speakers_no_roles": {
        "en": "This platform has no roles. Use `{slash}speakers listed` or `{slash}speakers everybody`.",
        "zh": "此平台没有角色。请使用 `{slash}speakers listed` 或 `{slash}speakers everybody`。",
    },
    "speakers_no_workspace": {
        "en": "This platform does not tell who is a full member. Use `{slash}speakers listed` or "
        "`{slash}speakers everybody`.",
        "zh": "此平台不提供正式成员信息。请使用 `{slash}speakers listed` 或 `{slash}speakers everybody`。",
    },
    "speakers_role_unknown": {
        "en": "There is no role {name} on this server. Roles: {roles}.",
        "zh": "此服务器没有角色 {name}。现有角色：{roles}。",
    },
    "speakers_role_twice": {
        "en": "Several roles have the name {name}. Say which by its id: {roles}.",
        "zh": "有多个名为 {name} 的角色。请用 ID 指明：{roles}。",
    },
    "speakers_button_listed": {"en": "Listed people only", "zh": "仅限名单"},
    "speakers_button_everybody": {"en": "Everybody, as guests", "zh": "所有人（访客）"},
    "speakers_button_workspace": {"en": "Full members, as guests", "zh": "正式成员（访客）"},
    "page_groups": {"en": "Groups", "zh": "群聊"},
    "page_groups_none": {
        "en": "There are no groups yet. A group or channel appears here once somebody has written to the bot in it.",
        "zh": "还没有群聊。有人在群聊或频道中给机器人发消息后，就会出现在这里。",
    },
    "page_groups_activation": {"en": "Answers", "zh": "回答范围"},
    "page_groups_speakers": {"en": "Who may speak", "zh": "谁可以说话"},
    "page_groups_tools": {"en": "Tools", "zh": "工具"},
    "page_groups_budget": {"en": "Budget", "zh": "预算"},
    "page_groups_class": {"en": "Class of tools", "zh": "工具类别"},
    "page_groups_word": {"en": "Limit", "zh": "限制"},
    "page_groups_no_limit": {"en": "as the role allows", "zh": "由角色决定"},
    "page_groups_no_budget": {"en": "none", "zh": "无"},
    "page_groups_default": {"en": "the default", "zh": "默认"},
    "page_groups_of": {"en": "{what}: {name}", "zh": "{what}：{name}"},
    "page_groups_used": {"en": "Used", "zh": "已用"},
    "page_groups_each": {"en": "Each", "zh": "周期"},
    "page_groups_day": {"en": "Day", "zh": "天"},
    "page_groups_month": {"en": "Month", "zh": "月"},
}
