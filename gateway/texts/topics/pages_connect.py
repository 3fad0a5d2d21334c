"""Texts of the admin page that connects platforms and models."""

TEXTS = {
    "page_connect": {"en": "Connect", "zh": "连接"},
    "page_connect_about": {
        "en": "First a model, which answers; then the platforms on which people write to it. Each guide opens "
        "one link, checks what you paste, and writes the file .env by itself.",
        "zh": "先连接负责回答的模型，再连接大家与它对话的平台。每个向导只需打开一个链接，会核对您粘贴的内容，"
        "并自动写入 .env 文件。",
    },
    "page_connect_model": {"en": "Model", "zh": "模型"},
    "page_connect_on": {"en": "set up", "zh": "已设置"},
    "page_connect_off": {"en": "not set up yet", "zh": "尚未设置"},
    "page_connect_open": {"en": "Connect {name}", "zh": "连接 {name}"},
    "page_connect_open_model": {"en": "Connect a model", "zh": "连接模型"},
    "page_connect_owners": {"en": "Only owners can connect something.", "zh": "只有所有者可以进行连接。"},
    "page_connect_kept": {"en": "kept unless you type another", "zh": "留空则保留已输入的值"},
    "page_connect_begin": {"en": "Begin", "zh": "开始"},
    "page_connect_link": {"en": "Open {where}", "zh": "打开 {where}"},
    "page_connect_go_on": {"en": "Go on", "zh": "继续"},
    "page_connect_check": {"en": "Check again", "zh": "再次检查"},
    "page_connect_skip": {"en": "Go on without", "zh": "先跳过"},
    "page_connect_again": {"en": "Try again", "zh": "重试"},
    "page_connect_yes": {"en": "Yes", "zh": "是"},
    "page_connect_no": {"en": "No", "zh": "不是"},
    "page_connect_close": {"en": "Close the guide", "zh": "关闭向导"},
    "page_connect_leave": {"en": "Leave the guide", "zh": "退出向导"},
}
