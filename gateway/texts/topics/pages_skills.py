"""Texts of the admin page of skills."""

TEXTS = {
    "page_skills": {"en": "Skills", "zh": "技能"},
    "page_skills_from": {"en": "From", "zh": "来源"},
    "page_skills_shipped": {"en": "shipped with Parley", "zh": "Parley 自带"},
    "page_skills_owner": {"en": "the owner's folder", "zh": "所有者的文件夹"},
    "page_skills_installed": {"en": "installed from an archive", "zh": "从压缩包安装"},
    "page_skills_loaded": {"en": "Kept loaded", "zh": "始终加载的范围"},
    "page_skills_always": {"en": "always", "zh": "始终"},
    "page_skills_on_demand": {
        "en": "nowhere; the agent loads it when a task needs it",
        "zh": "无；需要时由助手自行加载",
    },
    "page_skills_is_locked": {"en": "locked to its content", "zh": "已锁定内容"},
    "page_skills_none": {
        "en": "There are no skills yet. A skill is a folder with instructions; install one below.",
        "zh": "还没有技能。技能是带有说明的文件夹，可以在下面安装。",
    },
    "page_skills_problems": {"en": "Problems with skill files", "zh": "技能文件的问题"},
    "page_skills_install": {"en": "Install a skill", "zh": "安装技能"},
    "page_skills_install_how": {
        "en": "You see its files and what a scan found before anything is installed. Your approval holds for exactly "
        "this content.",
        "zh": "安装之前会先显示文件列表和扫描结果。您的批准只对这份内容有效。",
    },
    "page_skills_address": {"en": "Address of an archive or a folder on GitHub", "zh": "压缩包或 GitHub 文件夹的网址"},
    "page_skills_file": {"en": "Archive (zip, tar.gz)", "zh": "压缩包（zip、tar.gz）"},
    "page_skills_look": {"en": "Look at it", "zh": "查看"},
    "page_skills_look_address": {"en": "Look at it: the skill at this address", "zh": "查看该网址上的技能"},
    "page_skills_look_file": {"en": "Look at it: the skill in this file", "zh": "查看该文件中的技能"},
    "page_skills_approved": {
        "en": "approved by {by}, content {code},",
        "zh": "由 {by} 批准，内容 {code}，",
    },
    "page_skills_update": {"en": "Look for an update", "zh": "检查更新"},
    "page_skills_update_file": {"en": "Update from this file", "zh": "用此文件更新"},
    "page_skills_lock": {"en": "Lock to this content", "zh": "锁定当前内容"},
    "page_skills_unlock": {"en": "Unlock", "zh": "解锁"},
    "page_skills_everywhere": {"en": "Load in all chats", "zh": "在所有聊天中加载"},
    "page_skills_contents": {"en": "Contents", "zh": "内容"},
    "page_level": {"en": "Level", "zh": "范围"},
    "page_level_here": {"en": "this chat", "zh": "本聊天"},
    "page_level_thread": {"en": "this thread", "zh": "本话题"},
    "page_level_channel": {"en": "channel", "zh": "频道"},
    "page_level_workspace": {"en": "workspace", "zh": "工作区"},
    "page_level_installation": {"en": "all chats", "zh": "所有聊天"},
}
