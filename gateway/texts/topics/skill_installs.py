"""Texts about installing, updating, removing and locking skills."""

TEXTS = {
    "skill_install_how": {
        "en": "Send `{slash}skill install ADDRESS`, with the address of a zip or tar.gz file or of a folder on GitHub. "
        "Or attach the archive to `{slash}skill install`, or name one in this chat's files.",
        "zh": "请发送 `{slash}skill install 网址`，网址可以是 zip 或 tar.gz 文件，也可以是 GitHub 上的文件夹。"
        "也可以把压缩包附在 `{slash}skill install` 这条消息上，或写出本聊天文件中压缩包的名称。",
    },
    "skill_install_not_yours": {
        "en": "Only owners and admins can install and change skills.",
        "zh": "只有所有者和管理员可以安装或更改技能。",
    },
    "skill_install_off": {"en": "Skills cannot be installed here.", "zh": "这里不能安装技能。"},
    "skill_not_fetched": {
        "en": "The archive could not be fetched: {fact}. Check the address, or attach the file.",
        "zh": "无法获取压缩包：{fact}。请检查网址，或直接发送文件。",
    },
    "skill_no_file": {
        "en": "There is no file {name} in this chat. Give an address that begins with https://, or attach the archive "
        "to `{slash}skill install`.",
        "zh": "本聊天中没有文件 {name}。请提供以 https:// 开头的网址，或把压缩包附在 `{slash}skill install` 上。",
    },
    "skill_not_kept": {
        "en": "The skill could not be stored ({reason}). Nothing was changed; try again later.",
        "zh": "无法保存技能（{reason}）。没有任何更改，请稍后再试。",
    },
    "archive_file_too_large": {
        "en": "The archive is larger than {most} MB. Send one that holds only the skill.",
        "zh": "压缩包超过 {most} MB。请发送只包含该技能的压缩包。",
    },
    "archive_no_archive": {
        "en": "What {place} sent is no whole zip or tar.gz file. Check the address or the file.",
        "zh": "{place} 提供的不是完整的 zip 或 tar.gz 文件。请检查网址或文件。",
    },
    "archive_too_many": {
        "en": "Refused: the archive holds too many files ({detail}). A skill may have 200.",
        "zh": "已拒绝：压缩包中的文件过多（{detail}）。一个技能最多 200 个文件。",
    },
    "archive_too_large": {
        "en": "Refused: unpacked it is too large ({detail}). A file may have 256 KB, and a skill 4 MB.",
        "zh": "已拒绝：解压后过大（{detail}）。单个文件最多 256 KB，一个技能最多 4 MB。",
    },
    "archive_bomb": {
        "en": "Refused: the archive unpacks to far more than its size, as one made to do harm would.",
        "zh": "已拒绝：压缩包解压后远大于其自身大小，像是恶意制作的。",
    },
    "archive_path": {
        "en": "Refused: the path {detail} leads out of the archive, or has characters that a path here may not have.",
        "zh": "已拒绝：路径 {detail} 指向压缩包之外，或含有不允许的字符。",
    },
    "archive_link": {
        "en": "Refused: {detail} is a link. Put the file itself into the archive.",
        "zh": "已拒绝：{detail} 是一个链接。请在压缩包中放入文件本身。",
    },
    "archive_special": {
        "en": "Refused: {detail} is no regular file. Leave it out of the archive.",
        "zh": "已拒绝：{detail} 不是普通文件。请从压缩包中去掉它。",
    },
    "archive_twice": {
        "en": "Refused: {detail} is in the archive twice, or differs from another path only in case.",
        "zh": "已拒绝：{detail} 在压缩包中重复，或与另一路径仅大小写不同。",
    },
    "archive_encrypted": {
        "en": "Refused: the archive has a password. Send one without.",
        "zh": "已拒绝：压缩包有密码。请发送没有密码的压缩包。",
    },
    "archive_no_skill": {
        "en": "There is no such skill in what {place} sent: no folder with a SKILL.md.",
        "zh": "{place} 提供的内容中没有该技能：没有包含 SKILL.md 的文件夹。",
    },
    "archive_several": {
        "en": "The archive holds several skills: {detail}. Name one: `{slash}skill install ADDRESS NAME`.",
        "zh": "压缩包中有多个技能：{detail}。请指明一个：`{slash}skill install 网址 名称`。",
    },
    "archive_broken": {
        "en": "Its SKILL.md cannot be used: {detail}.",
        "zh": "它的 SKILL.md 无法使用：{detail}。",
    },
    "skill_offered": {
        "en": "**{name}**{version} from {place} is not installed yet.",
        "zh": "**{name}**{version}（来自 {place}）尚未安装。",
    },
    "skill_wants": {"en": "**Asks for:** {what}", "zh": "**所需条件**：{what}"},
    "skill_wants_none": {"en": "nothing", "zh": "无"},
    "skill_wants_bins": {"en": "programs {names}", "zh": "程序 {names}"},
    "skill_wants_packages": {"en": "Python packages {names}", "zh": "Python 包 {names}"},
    "skill_wants_env": {"en": "settings {names}", "zh": "设置 {names}"},
    "skill_wants_systems": {"en": "the system {names}", "zh": "系统 {names}"},
    "skill_wants_always": {"en": "to be loaded in every chat", "zh": "在所有聊天中始终加载"},
    "skill_files": {"en": "**Files** ({count}, {size}):", "zh": "**文件**（{count} 个，{size}）："},
    "skill_scan": {"en": "**The scan found:**", "zh": "**扫描结果**："},
    "skill_scan_clean": {
        "en": "The scan found nothing. It does not find everything: read the files if you do not trust their author.",
        "zh": "扫描没有发现问题。扫描并不能发现一切：如果不信任作者，请先阅读文件。",
    },
    "skill_scan_more": {"en": "- and {count} more", "zh": "- 另有 {count} 项"},
    "skill_scan_hidden": {
        "en": "{file}: lines with hidden characters or control tokens: {details}",
        "zh": "{file}：含隐藏字符或控制标记的行数：{details}",
    },
    "skill_scan_network": {"en": "{file} uses the network: {details}", "zh": "{file} 会访问网络：{details}"},
    "skill_scan_paths": {"en": "{file} names paths elsewhere: {details}", "zh": "{file} 提到其他位置的路径：{details}"},
    "skill_scan_secrets": {
        "en": "{file} names places of secrets: {details}",
        "zh": "{file} 提到存放密钥的位置：{details}",
    },
    "skill_scan_binary": {"en": "{file} is no text, so it was not scanned", "zh": "{file} 不是文本，未扫描"},
    "skill_scan_large": {"en": "{file} is large: {details} KB", "zh": "{file} 较大：{details} KB"},
    "skill_bound": {
        "en": "Content `{code}`: only these files are approved. If one changes, the skill is not used.",
        "zh": "内容 `{code}`：只批准这些文件。任何文件改动后，技能都不会再使用。",
    },
    "skill_install_button": {"en": "Install", "zh": "安装"},
    "skill_update_button": {"en": "Update", "zh": "更新"},
    "skill_discard_button": {"en": "Discard", "zh": "放弃"},
    "skill_installed": {
        "en": "**{name}** is installed (content `{code}`). The model loads it when it fits; `{slash}skill load {name}` "
        "keeps it loaded here.",
        "zh": "**{name}** 已安装（内容 `{code}`）。合适时模型会加载它；"
        "`{slash}skill load {name}` 可让它在这里保持加载。",
    },
    "skill_updated": {
        "en": "**{name}** is updated (content `{code}`), also where it is loaded.",
        "zh": "**{name}** 已更新（内容 `{code}`），已加载它的聊天也会更新。",
    },
    "skill_discarded": {"en": "Discarded. Nothing was changed.", "zh": "已放弃，没有任何更改。"},
    "skill_proposal_gone": {
        "en": "This can no longer be approved: it is older than a day, or the skill was changed meanwhile. Use "
        "`{slash}skill install` or `{slash}skill update` again.",
        "zh": "已无法批准：超过一天，或技能在此期间已更改。"
        "请重新使用 `{slash}skill install` 或 `{slash}skill update`。",
    },
    "skill_name_installed": {
        "en": "A skill named **{name}** is installed already. `{slash}skill update {name}` changes it, or "
        "`{slash}skill remove {name}` first.",
        "zh": "名为 **{name}** 的技能已经安装。"
        "可用 `{slash}skill update {name}` 更新，或先用 `{slash}skill remove {name}`。",
    },
    "skill_name_shipped": {
        "en": "**{name}** is the name of a skill that comes with Parley, so nothing else can be installed under it. "
        "Change `name` in its SKILL.md.",
        "zh": "**{name}** 是 Parley 自带技能的名称，不能用这个名称安装其他技能。请修改其 SKILL.md 中的 `name`。",
    },
    "skill_name_owner": {
        "en": "**{name}** is the name of a skill in the owner's own folder, so nothing else can be installed under it. "
        "Change `name` in its SKILL.md.",
        "zh": "**{name}** 是所有者文件夹中技能的名称，不能用这个名称安装其他技能。请修改其 SKILL.md 中的 `name`。",
    },
    "skill_not_installed": {
        "en": "No skill named {name} was installed with `{slash}skill install`. {slash}skills lists all.",
        "zh": "没有用 `{slash}skill install` 安装过名为 {name} 的技能。{slash}skills 列出全部技能。",
    },
    "skill_no_source": {
        "en": "**{name}** was installed from a file. Attach the new one to `{slash}skill update {name}`.",
        "zh": "**{name}** 是从文件安装的。请把新文件附在 `{slash}skill update {name}` 上。",
    },
    "skill_other_name": {
        "en": "Refused: this archive holds the skill **{other}**, not **{name}**. Use `{slash}skill install` for it.",
        "zh": "已拒绝：压缩包中的技能是 **{other}**，不是 **{name}**。请用 `{slash}skill install` 安装。",
    },
    "skill_unchanged": {
        "en": "**{name}** is the same there. Nothing to update.",
        "zh": "**{name}** 没有变化，无需更新。",
    },
    "skill_update_offered": {
        "en": "A new content of **{name}** from {place} is not in use yet. It changes:",
        "zh": "**{name}** 的新内容（来自 {place}）尚未启用。改动如下：",
    },
    "skill_file_new": {"en": "{path}: new, {added} lines", "zh": "{path}：新增，{added} 行"},
    "skill_file_gone": {"en": "{path}: removed, {removed} lines", "zh": "{path}：删除，{removed} 行"},
    "skill_file_changed": {"en": "{path}: +{added} −{removed} lines", "zh": "{path}：+{added} −{removed} 行"},
    "skill_diff_cut": {"en": "The whole diff is in the file.", "zh": "完整的差异见文件。"},
    "skill_removed": {
        "en": "**{name}** is removed, and unloaded wherever it was loaded.",
        "zh": "**{name}** 已移除，并已从所有加载它的聊天中卸载。",
    },
    "skill_locked": {
        "en": "**{name}** is locked to its files as they are now (`{code}`). If they change it is not used, and owners "
        "are asked less about its scripts. `{slash}skill unlock {name}` ends that.",
        "zh": "**{name}** 已锁定为当前文件（`{code}`）。文件改动后不再使用；运行其脚本时对所有者的询问会减少。"
        "`{slash}skill unlock {name}` 可解除锁定。",
    },
    "skill_unlocked": {"en": "**{name}** is no longer locked.", "zh": "**{name}** 已解除锁定。"},
    "skill_not_locked": {"en": "{name} is not locked.", "zh": "{name} 没有锁定。"},
    "skill_is_locked": {
        "en": "**{name}** is locked. `{slash}skill unlock {name}` first.",
        "zh": "**{name}** 已锁定，请先用 `{slash}skill unlock {name}` 解除。",
    },
    "skill_lock_shipped": {
        "en": "**{name}** comes with Parley and changes only with it, so there is nothing to lock.",
        "zh": "**{name}** 是 Parley 自带的，只随 Parley 更新，无需锁定。",
    },
}
