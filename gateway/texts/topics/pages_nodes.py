"""Texts of the admin page of nodes."""

TEXTS = {
    "page_nodes": {"en": "Nodes", "zh": "节点"},
    "page_nodes_state": {"en": "State", "zh": "状态"},
    "page_nodes_well": {"en": "in order", "zh": "正常"},
    "page_nodes_silent": {"en": "silent for {seconds} s", "zh": "已 {seconds} 秒没有响应"},
    "page_nodes_draining": {"en": "takes no further chats", "zh": "不再接手新的聊天"},
    "page_nodes_unreachable": {"en": "cannot reach {platforms}", "zh": "无法连接 {platforms}"},
    "page_nodes_chats": {"en": "Chats", "zh": "聊天"},
    "page_nodes_runs": {"en": "Runs", "zh": "运行中"},
    "page_nodes_leases": {"en": "Only here", "zh": "独自负责"},
    "page_nodes_since": {"en": "Since", "zh": "启动时间"},
    "page_nodes_differ": {
        "en": "Not the same on all nodes: {what} ({who}). Set it everywhere, and restart those that lag.",
        "zh": "各节点不一致：{what}（{who}）。请统一设置，并重启尚未更新的节点。",
    },
    "page_nodes_how": {
        "en": "Each chat is worked on by one node. When a node ends or falls silent, the others take over its chats.",
        "zh": "每个聊天由一个节点负责。节点停止或失去响应时，其他节点会接管它的聊天。",
    },
}
