"""Texts of the command /privacy."""

TEXTS = {
    "privacy_goes": {"en": "**Where your words go**", "zh": "**您的话会发送到哪里**"},
    "privacy_platform": {
        "en": "The platform of this chat carries and stores our messages by its own rules.",
        "zh": "本聊天所在的平台按其自己的规则传输和保存消息。",
    },
    "privacy_model": {
        "en": "The model {model} reads the conversation, on {where}.",
        "zh": "模型 {model}（{where}）会读取对话。",
    },
    "privacy_model_here": {"en": "this machine", "zh": "本机"},
    "privacy_search": {"en": "Web searches go to {provider}.", "zh": "网络搜索会发送到 {provider}。"},
    "privacy_no_search": {"en": "There is no web search.", "zh": "没有网络搜索。"},
    "privacy_server": {
        "en": "The MCP server {name} on {where} receives the calls of its tools.",
        "zh": "{where} 上的 MCP 服务器 {name} 会收到对其工具的调用。",
    },
    "privacy_server_here": {
        "en": "The MCP server {name} runs on this machine {where} and receives the calls of its tools.",
        "zh": "MCP 服务器 {name} 在本机 {where} 运行，会收到对其工具的调用。",
    },
    "privacy_programs_network": {
        "en": "Programs that I run can reach the network.",
        "zh": "我运行的程序可以访问网络。",
    },
    "privacy_programs_no_network": {
        "en": "Programs that I run cannot reach the network.",
        "zh": "我运行的程序不能访问网络。",
    },
    "privacy_kept": {"en": "**What is kept on this machine**", "zh": "**本机保存的内容**"},
    "privacy_messages": {
        "en": "Messages, answers, remembered facts and jobs: until you erase them.",
        "zh": "消息、回答、记住的事和日程：直到您删除。",
    },
    "privacy_results": {
        "en": "Long results of tools: shortened after {days} days.",
        "zh": "工具的长结果：{days} 天后截短。",
    },
    "privacy_results_kept": {"en": "Long results of tools: whole.", "zh": "工具的长结果：完整保存。"},
    "privacy_files": {
        "en": "Files of each chat: until someone deletes them; former versions for {days} days.",
        "zh": "各聊天的文件：直到有人删除；旧版本保留 {days} 天。",
    },
    "privacy_audit": {
        "en": "A list of the calls of tools, and who allowed them: {days} days.",
        "zh": "工具调用及批准者的记录：{days} 天。",
    },
    "privacy_backups": {"en": "Nightly backups: the newest {count}.", "zh": "每晚的备份：最新的 {count} 份。"},
    "privacy_no_backups": {"en": "No nightly backups.", "zh": "没有每晚的备份。"},
    "privacy_readers": {
        "en": "Those who run this machine can read all of it; owners and admins see the list of calls.",
        "zh": "管理这台机器的人可以读取全部内容；所有者和管理员可以查看调用记录。",
    },
    "privacy_forget": {
        "en": "{slash}forget me erases what is kept of you.",
        "zh": "{slash}forget me 会删除与您有关的数据。",
    },
}
