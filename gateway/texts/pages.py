"""Texts that all admin pages share."""

TEXTS = {
    "page_skip": {"en": "Skip to the content", "zh": "跳到正文"},
    "page_menu": {"en": "Menu", "zh": "菜单"},
    "page_nav": {"en": "Pages", "zh": "页面"},
    "page_chat": {"en": "Chat", "zh": "聊天"},
    "page_group_talk": {"en": "Talk", "zh": "对话"},
    "page_group_work": {"en": "Work", "zh": "工作"},
    "page_group_people": {"en": "People", "zh": "人员"},
    "page_group_system": {"en": "System", "zh": "系统"},
    "page_chat_web": {"en": "The page", "zh": "网页"},
    "page_chat_terminal": {"en": "The terminal", "zh": "终端"},
    "page_waiting": {"en": "waiting", "zh": "项待处理"},
    "page_needs_scripts": {
        "en": "These pages need JavaScript. Allow it for this address, or use the commands in the chat: /help lists "
        "them.",
        "zh": "这些页面需要 JavaScript。请为此地址启用它，或在聊天中使用命令：/help 会列出全部命令。",
    },
    "page_lost": {
        "en": "Parley does not answer. Your change was not made; try again when it runs.",
        "zh": "Parley 没有响应，更改没有生效。请在它恢复运行后重试。",
    },
    "page_done": {"en": "Done.", "zh": "完成。"},
    "page_close": {"en": "Close", "zh": "关闭"},
    "page_choose": {"en": "choose…", "zh": "请选择…"},
    "page_filter": {"en": "Filter", "zh": "筛选"},
    "page_name": {"en": "Name", "zh": "名称"},
    "page_account": {"en": "Account", "zh": "账号"},
    "page_accounts": {"en": "Accounts", "zh": "账号"},
    "page_role": {"en": "Role", "zh": "角色"},
    "page_actions": {"en": "Actions", "zh": "操作"},
    "page_in_settings": {"en": "in the settings", "zh": "来自设置文件"},
    "page_nowhere": {"en": "Not found", "zh": "未找到"},
    "page_failed": {
        "en": "This screen failed. The log says why, under the code {code}; everything else goes on.",
        "zh": "这个页面出错了。原因在日志中，代码为 {code}；其他功能不受影响。",
    },
    "page_not_found": {
        "en": "There is no such page, or no longer what it showed.",
        "zh": "没有这个页面，或它显示的内容已不存在。",
    },
    "page_admins_only": {
        "en": "These pages are for owners and admins.",
        "zh": "这些页面仅供所有者和管理员使用。",
    },
    "page_too_long": {"en": "This is too long: at most 20,000 characters.", "zh": "内容过长：最多 20,000 个字符。"},
    "page_file_too_large": {"en": "This file is too large.", "zh": "文件过大。"},
    "page_one_file": {"en": "Choose one file only.", "zh": "只能选择一个文件。"},
    "page_no_command": {"en": "There is no such action.", "zh": "没有这个操作。"},
    "page_chat_not_connected": {
        "en": "The platform of this chat is not connected. Connect it, then try again.",
        "zh": "这个聊天所在的平台没有连接。请先连接它，然后重试。",
    },
    "page_no_answer": {
        "en": "The process that works on this chat did not answer. Look if it was done, then try again.",
        "zh": "处理这个聊天的进程没有回应。请先确认操作是否已完成，再重试。",
    },
    "page_not_your_chat": {
        "en": "This is not your chat: only owners can do that in chats of others.",
        "zh": "这不是您的聊天：只有所有者可以在他人的聊天中这样做。",
    },
    "page_say_in_chat": {
        "en": "Write this in the chat itself: it is answered there.",
        "zh": "请直接在聊天中发送：回复会出现在那里。",
    },
    # people
    "page_people": {"en": "People", "zh": "用户"},
    "page_people_waiting": {"en": "Waiting to be let in", "zh": "等待批准"},
    "page_people_known": {"en": "People with a role", "zh": "已有角色的用户"},
    "page_people_none": {"en": "There is no one here yet.", "zh": "这里还没有人。"},
    "page_people_change": {"en": "Change", "zh": "更改"},
    "page_people_change_of": {"en": "Change the role of {name}", "zh": "更改 {name} 的角色"},
    "page_people_new_role": {"en": "New role of {name}", "zh": "{name} 的新角色"},
    "page_people_block": {"en": "Block {name}", "zh": "拉黑 {name}"},
    "page_people_add": {"en": "Let somebody in", "zh": "添加用户"},
    "page_people_add_how": {
        "en": "The account is the platform and the id there. /whoami tells people theirs.",
        "zh": "账号由平台和平台上的编号组成。对方可以用 /whoami 查看自己的账号。",
    },
    "page_people_alike": {
        "en": "The same person as {accounts}? /link in a direct chat links the accounts.",
        "zh": "与 {accounts} 是同一个人吗？在私聊中用 /link 可关联这些账号。",
    },
    "page_people_let_in": {"en": "Let in", "zh": "添加"},
}
