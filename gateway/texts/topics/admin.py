"""Texts of the commands for admins, and of those about a person's own data."""

TEXTS = {
    "only_admins": {
        "en": "Only owners and admins can do this.",
        "zh": "只有所有者和管理员可以这样做。",
    },
    "only_owners": {"en": "Only owners can do this.", "zh": "只有所有者可以这样做。"},
    "only_members": {
        "en": "Only members, admins and owners can do this.",
        "zh": "只有成员、管理员和所有者可以这样做。",
    },
    "only_in_direct_chat": {
        "en": "Other people can read this chat. Please ask me in a direct chat.",
        "zh": "其他人也能看到这个聊天，请在私聊里问我。",
    },
    "forget_usage": {
        "en": "{slash}forget me erases what you said. Admins can write {slash}forget telegram:42 in a direct chat.",
        "zh": "{slash}forget me 会删除您说过的话。管理员可以在私聊里写 {slash}forget telegram:42。",
    },
    "forget_ask": {
        "en": "This erases, for good:\n"
        "- our direct chats: messages, answers, facts, files, former versions, jobs, search\n"
        "- in groups: your messages, your jobs and tasks, and what my tools did for you\n"
        "- your entries in the audit file; that they existed stays, without content\n\n"
        "It stays in groups what others and I wrote, even where it repeats you, and the files there. "
        "Your role, the ids of messages and the cost of runs stay, too. "
        "What the platform itself has stored I cannot erase.",
        "zh": "这会永久删除：\n"
        "- 我们的私聊：消息、回答、记住的事、文件、旧版本、日程、搜索\n"
        "- 群组里：您的消息、您的日程和任务，以及工具为您做过的事\n"
        "- 您在审计文件中的记录；记录本身保留，但不再有内容\n\n"
        "群组里其他人和我写的内容会保留，即使其中重复了您的话；那里的文件也会保留。"
        "您的角色、消息编号和运行费用也会保留。平台自己存储的内容我无法删除。",
    },
    "forget_ask_other": {
        "en": "This erases for good what **{who}** said, their direct chats with me with all files and facts, and the "
        "content of their audit entries. In groups, what others and I wrote stays.",
        "zh": "这会永久删除 **{who}** 说过的话、与我的私聊（包括文件和记住的事），以及其审计记录的内容。"
        "群组里其他人和我写的内容会保留。",
    },
    "forget_button": {"en": "Erase for good", "zh": "永久删除"},
    "forget_not_yours": {
        "en": "Only the person who asked can confirm this. Write {slash}forget me yourself.",
        "zh": "只有提出请求的人可以确认。请自己发送 {slash}forget me。",
    },
    "forget_expired": {
        "en": "This question has expired and nothing was erased. Write {slash}forget me again.",
        "zh": "这个确认已过期，没有删除任何内容。请重新发送 {slash}forget me。",
    },
    "forget_others": {
        "en": "Only owners and admins can erase what others said. {slash}forget me erases what you said.",
        "zh": "只有所有者和管理员可以删除别人的数据。{slash}forget me 会删除您自己的。",
    },
    "forget_owner": {"en": "Only an owner can erase an owner's data.", "zh": "只有所有者可以删除所有者的数据。"},
    "forget_busy": {
        "en": "Something is still running there and would write on. Use {slash}stop and {slash}tasks to end it, then "
        "press again.",
        "zh": "还有任务正在运行，会继续写入。请先用 {slash}stop 和 {slash}tasks 结束，然后再按一次。",
    },
    "forget_unfinished": {
        "en": "I could not erase everything: the disk is full or fails. The rest is erased at the next start; please "
        "tell an owner.",
        "zh": "未能全部删除：磁盘已满或出错。其余内容会在下次启动时删除，请告知所有者。",
    },
    "forget_plugin_failed": {
        "en": "Not erased: the plugin {name} failed to erase its rows, so messages and other rows are there still. "
        "It is tried again at each start; please tell an owner, who finds the reason in the log.",
        "zh": "未删除：插件 {name} 未能删除它的数据，因此消息和其他数据也仍然保留。"
        "每次启动时会重试；请告知所有者，原因见日志。",
    },
    "forget_plugin_failed_owner": {
        "en": "Not erased: the plugin {name} failed to erase its rows, so messages and other rows are there still. "
        "It is tried again at each start; {slash}plugins {name} tells why.",
        "zh": "未删除：插件 {name} 未能删除它的数据，因此消息和其他数据也仍然保留。"
        "每次启动时会重试；发送 {slash}plugins {name} 可查看原因。",
    },
    "forget_rows_stay": {
        "en": "Rows of these plugins stay for now, as they do not erase any or are switched off or gone: {names}. They "
        "are erased once Parley starts with the plugin and it erases rows; an owner can say what they hold.",
        "zh": "以下插件的数据暂时保留，因为这些插件不会删除数据，或已停用、已移除：{names}。"
        "等 Parley 启动时插件在场并且会删除数据，这些数据就会删除；所有者可以说明其中存有什么。",
    },
    "forget_done": {
        "en": "Erased. Messages: {messages}; direct chats: {chats}; audit entries without content now: {entries}.",
        "zh": "已删除：{messages} 条消息、{chats} 个私聊、{entries} 条审计记录的内容。",
    },
    "forget_no_backups": {"en": "No backup on this machine holds the data.", "zh": "本机没有包含这些数据的备份。"},
    "forget_backups": {
        "en": "These backups still hold the data. If one is restored, the erasure is repeated. Copies made elsewhere "
        "are not known to me.",
        "zh": "以下备份仍含有这些数据；如果恢复其中之一，会再次删除。其他地方的副本我并不知道。",
    },
    "forget_backup_until": {"en": "- {name}, until {day}", "zh": "- {name}，保留到 {day}"},
    "forget_backup_stays": {"en": "- {name}, until an owner deletes it", "zh": "- {name}，直到所有者删除它"},
}
