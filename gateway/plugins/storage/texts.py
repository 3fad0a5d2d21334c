"""Texts of the screen of storage."""

TEXTS = {
    "page_storage_size": {"en": "Size", "zh": "大小"},
    "page_storage": {"en": "Storage", "zh": "存储"},
    "page_storage_store": {"en": "Database", "zh": "数据库"},
    "page_storage_files": {"en": "Files of chats", "zh": "聊天文件"},
    "page_storage_versions": {"en": "Former versions of files", "zh": "文件的历史版本"},
    "page_storage_backups": {"en": "Backups", "zh": "备份"},
    "page_storage_chats": {"en": "By chat", "zh": "按聊天"},
    "page_storage_people": {"en": "By person", "zh": "按用户"},
    "page_storage_of": {"en": "Of {mb} MB", "zh": "占 {mb} MB 的比例"},
    "page_storage_keep": {
        "en": "Long results and sent files are kept for {days} days, and {backups} nightly backups (0: no limit, or "
        "none).",
        "zh": "较长的工具结果和已发送的文件保留 {days} 天，每晚备份保留 {backups} 份（0 表示不限或不备份）。",
    },
    "page_storage_none": {"en": "No files are stored yet.", "zh": "还没有存储文件。"},
    "page_storage_no_backups": {
        "en": "There is no backup yet. One is made each night; parley backup makes one now.",
        "zh": "还没有备份。每晚会自动备份；也可以运行 parley backup 立即备份。",
    },
    "page_storage_backups_off": {
        "en": "No backups are made here: PARLEY_BACKUPS is 0, or the database is on a PostgreSQL server, where you "
        "copy it (docs/cluster.md).",
        "zh": "这里不做备份：PARLEY_BACKUPS 为 0，或数据库在 PostgreSQL 服务器上，须在那里备份（见 docs/cluster.md）。",
    },
}
