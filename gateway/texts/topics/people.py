"""Texts about roles, pairing and strangers."""

TEXTS = {
    "paired": {
        "en": "You are the owner now. `{slash}people` lists who else may talk to me, and `{slash}link` makes your "
        "accounts on other platforms owners too.",
        "zh": "您现在是所有者了。`{slash}people` 列出还有谁可以和我说话；"
        "`{slash}link` 让您在其他平台上的账号也成为所有者。",
    },
    "pair_wrong": {
        "en": "That is not the current code. The console shows it while I have no owner; an owner gets one with "
        "`{slash}pair`. It changes every hour.",
        "zh": "这不是当前的配对码。没有所有者时，控制台会显示配对码；之后由所有者用 `{slash}pair` 获取。"
        "配对码每小时更换。",
    },
    "pair_locked": {
        "en": "Too many wrong codes. I take none from you for an hour.",
        "zh": "错误次数过多，一小时内不再接受您的配对码。",
    },
    "pair_alone": {
        "en": "Others can read this chat. Please send me that in a direct chat.",
        "zh": "这里还有其他人，请在私聊中发送。",
    },
    "pair_owner": {"en": "You are an owner already.", "zh": "您已经是所有者。"},
    "pair_how": {
        "en": "Write `{slash}pair CODE`, for example `{slash}pair k7m2xq9d`. The console shows the code while I have "
        "no owner; an owner gets one with `{slash}pair`.",
        "zh": "请发送 `{slash}pair 配对码`，例如 `{slash}pair k7m2xq9d`。没有所有者时，控制台会显示配对码；"
        "之后由所有者用 `{slash}pair` 获取。",
    },
    "pair_code": {
        "en": "Whoever sends me `/pair {code}` in a direct chat becomes an owner (on Slack `!pair {code}`). "
        "The code works once, within {minutes} min.",
        "zh": "谁在私聊中给我发送 `/pair {code}`（在 Slack 上是 `!pair {code}`），谁就成为所有者。"
        "此码只能用一次，{minutes} 分钟内有效。",
    },
    "pair_no_owner": {
        "en": "No one owns me on {platforms} yet. Send me `/pair {code}` there in a direct chat within an hour "
        "(on Slack `!pair {code}`). The code changes every hour.",
        "zh": "{platforms} 上还没有所有者。请在一小时内在那里的私聊中给我发送 `/pair {code}`"
        "（在 Slack 上是 `!pair {code}`）。配对码每小时更换。",
    },
    "link_code": {
        "en": "Send me `/link {code}` in a direct chat from your other account within {minutes} min (on Slack "
        "`!link {code}`). Both will be one person: with the same role, and each may see what was said in the other's "
        "direct chats. Keep the code to yourself.",
        "zh": "请在 {minutes} 分钟内用另一个账号在私聊中给我发送 `/link {code}`（在 Slack 上是 `!link {code}`）。"
        "两个账号将属于同一个人：角色相同，并能看到彼此私聊中的内容。请勿把此码交给他人。",
    },
    "link_asked": {
        "en": "This code is from {who}. Is that you? If you link it, that account has your role here and may see what "
        "was said in your direct chats.",
        "zh": "此码来自 {who}。是您本人吗？关联后，该账号与您角色相同，并能看到您私聊中的内容。",
    },
    "link_offer": {
        "en": "These owners look like one person: {accounts}. So I tell you such things once, where I heard from you "
        "last. If all of them are you, link them: the button gives you a code to send me from the other account.",
        "zh": "这些所有者看起来是同一个人：{accounts}。因此这类消息我只在您最近使用的账号上告诉您一次。"
        "如果都是您本人，请关联它们：点按钮获取一个码，再用另一个账号发给我。",
    },
    "link_offer_button": {"en": "Link them", "zh": "关联"},
    "link_button": {"en": "Yes, link it", "zh": "是我，关联"},
    "linked": {"en": "Linked: {accounts} are one person now.", "zh": "已关联：{accounts} 现在属于同一个人。"},
    "linked_stranger": {
        "en": "Linked: this account has the rights of your other one now.",
        "zh": "已关联：此账号现在与您的另一个账号权限相同。",
    },
    "link_unknown": {
        "en": "That code is not valid, or no longer. `{slash}link` on the other account gives a new one.",
        "zh": "此码无效或已过期。请在另一个账号上用 `{slash}link` 获取新码。",
    },
    "link_other_way": {
        "en": "This account has more rights than the other one. Ask for the code here, and say it there.",
        "zh": "此账号的权限高于另一个账号。请在这里获取码，在那边发送。",
    },
    "link_weaker": {
        "en": "The accounts have different roles. Ask an owner to give both the same one.",
        "zh": "两个账号的角色不同，只有所有者可以更改。请所有者给两个账号相同的角色。",
    },
    "link_unknown_account": {
        "en": "The code is right, but nobody has let this account in yet, which only an owner's code does by itself. "
        "Ask an owner or admin to let this account in with the role of your other one; then send a new code here.",
        "zh": "码是对的，但此账号尚未获准使用，而只有所有者的码能直接让新账号加入。"
        "请让所有者或管理员允许此账号使用，并给它与您另一个账号相同的角色，然后在这里发送一个新码。",
    },
    "link_off": {
        "en": "This account is a person of its own again. Its role here: {role}.",
        "zh": "此账号已单独成为一个人，角色：{role}。",
    },
    "link_off_out": {
        "en": "This account is a person of its own again. Its role came from the other account, so it has none now: an "
        "owner can let it in again.",
        "zh": "此账号已单独成为一个人。它的角色来自另一个账号，因此现在没有角色；所有者可以重新允许它。",
    },
    "code_lost": {
        "en": "I was interrupted before I looked at your code, and I keep no codes. Please send it again.",
        "zh": "我在查看您的码之前被中断了，而且我不保存任何码。请再发一次。",
    },
    "link_used": {
        "en": "{who} has used your code: both accounts are one person now. If that is not you, separate it at once.",
        "zh": "{who} 使用了您的关联码，两个账号现在属于同一个人。如果不是您本人，请立即解除关联。",
    },
    "link_undo_button": {"en": "Separate it", "zh": "解除关联"},
    "link_separated": {
        "en": "{who} is a person of its own again, without the rights of an owner. `{slash}people` shows its role.",
        "zh": "{who} 已单独成为一个人，不再有所有者的权限。`{slash}people` 显示其角色。",
    },
    "link_not_yours": {
        "en": "No such account was linked to this one by a code of yours. `{slash}whoami` lists your accounts.",
        "zh": "没有用您的关联码关联过这个账号。`{slash}whoami` 列出您的账号。",
    },
    "link_none": {"en": "This account is not linked.", "zh": "此账号没有关联。"},
    "stranger_asked": {"en": "I have asked the owner.", "zh": "我已经问了所有者。"},
    "stranger_writes": {
        "en": "{who} wrote to me and is unknown here. May they talk to me?",
        "zh": "{who} 给我发了消息，但我不认识此人。可以让此人和我说话吗？",
    },
    "people_row": {"en": "- {role}: {who}", "zh": "- {role}：{who}"},
    "people_alike": {
        "en": "one person? `{slash}link` links the accounts",
        "zh": "是同一个人吗？用 `{slash}link` 可关联这些账号",
    },
    "people_facts": {"en": " ({facts})", "zh": "（{facts}）"},
    "strangers_no_more": {"en": "Nobody else is waiting any more.", "zh": "没有其他陌生人在等待了。"},
    "strangers_more": {
        "en": "More unknown people have written to me: {count}. I show three at a time; the button lists all of them.",
        "zh": "还有 {count} 个陌生人给我发了消息。我一次只显示三个，点按钮可列出全部。",
    },
    "stranger_member": {"en": "{who} was let in as a member by {by}.", "zh": "{by} 已允许 {who} 作为成员加入。"},
    "stranger_guest": {"en": "{who} was let in as a guest by {by}.", "zh": "{by} 已允许 {who} 作为访客加入。"},
    "stranger_ignore": {
        "en": "{who} is ignored, as {by} decided. The words are deleted.",
        "zh": "{by} 决定忽略 {who}，消息内容已删除。",
    },
    "stranger_block": {
        "en": "{who} was blocked by {by}. The words are deleted.",
        "zh": "{by} 已拉黑 {who}，消息内容已删除。",
    },
    "stranger_no_more": {"en": "{who}: this is decided.", "zh": "{who}：已经决定过了。"},
    "stranger_decided": {
        "en": "That was decided already, or is too long ago. `{slash}people` shows who may talk to me.",
        "zh": "这已经决定过了，或者时间太久。`{slash}people` 显示谁可以和我说话。",
    },
    "allow_button": {"en": "Allow", "zh": "允许"},
    "guest_button": {"en": "As guest", "zh": "作为访客"},
    "ignore_button": {"en": "Ignore", "zh": "忽略"},
    "block_button": {"en": "Block", "zh": "拉黑"},
    "role_owner": {"en": "Owner", "zh": "所有者"},
    "role_admin": {"en": "Admin", "zh": "管理员"},
    "role_member": {"en": "Member", "zh": "成员"},
    "role_guest": {"en": "Guest", "zh": "访客"},
    "role_none": {"en": "No role", "zh": "无角色"},
    "role_blocked": {"en": "Blocked", "zh": "已拉黑"},
    "role_set": {"en": "{who}: {role}, from now on.", "zh": "{who}：从现在起为{role}。"},
    "role_not_yours": {
        "en": "Only owners and admins can see and change roles.",
        "zh": "只有所有者和管理员可以查看和更改角色。",
    },
    "role_own": {
        "en": "You cannot change your own role. Ask another owner.",
        "zh": "不能更改自己的角色，请找另一位所有者。",
    },
    "role_owner_only": {
        "en": "Only an owner can make owners and admins, or change their role.",
        "zh": "只有所有者可以任命或更改所有者和管理员。",
    },
    "role_in_settings": {
        "en": "The settings give this person a higher role, so it cannot be lowered here. "
        "Take them out of `owners` or `allow` and restart, or block a member with `{slash}block`.",
        "zh": "设置中给了此人更高的角色，不能在这里降低。请从 `owners` 或 `allow` 中删除后重启，"
        "或用 `{slash}block` 拉黑成员。",
    },
    "block_in_settings": {
        "en": "The settings name this person as an owner, who cannot be blocked. Take them out of `owners` first.",
        "zh": "此人是设置中的所有者，不能拉黑。请先从 `owners` 中删除。",
    },
    "role_how": {
        "en": "A role is owner, admin, member, guest or none. For example: `{slash}role telegram:123456789 guest`",
        "zh": "角色可以是 owner、admin、member、guest 或 none。例如：`{slash}role telegram:123456789 guest`",
    },
    "allow_how": {
        "en": "Write member or guest after the id, for example `{slash}allow telegram:123456789 guest`. "
        "For other roles use `{slash}role`.",
        "zh": "请在编号后写 member 或 guest，例如 `{slash}allow telegram:123456789 guest`。"
        "其他角色请用 `{slash}role`。",
    },
    "who_unknown": {
        "en": "{who} is no id of a person here. Write platform:id, such as telegram:123456789, slack:U012AB3CD or "
        "discord:123456789012345678; `{slash}people` lists those I know.",
        "zh": "{who} 不是有效的用户编号。请写“平台:编号”，例如 telegram:123456789、slack:U012AB3CD 或 "
        "discord:123456789012345678；`{slash}people` 列出我认识的人。",
    },
    "person_blocked": {
        "en": "{who} is blocked. `{slash}allow` lets them in again.",
        "zh": "已拉黑 {who}。用 `{slash}allow` 可以重新允许。",
    },
    "people": {"en": "These people are known to me:", "zh": "我认识的人："},
    "people_choose": {"en": "Show one of them", "zh": "查看其中一人"},
    "people_none": {"en": "I know no one yet on other platforms.", "zh": "其他平台上还没有我认识的人。"},
    "people_more": {
        "en": "... and {count} more; `{slash}people WORDS` finds them by name or id.",
        "zh": "……还有 {count} 人；`{slash}people 关键词` 可按名称或编号查找。",
    },
    "people_waits": {"en": "- Waits for an answer: {who}", "zh": "- 等待答复：{who}"},
    "person_settings": {"en": "in the settings", "zh": "来自设置"},
    "person_by": {"en": "by {by}", "zh": "由 {by} 设定"},
    "whoami": {
        "en": "**Role:** {role}  \n**Account:** {accounts}",
        "zh": "**角色**：{role}  \n**账号**：{accounts}",
    },
    "whoami_settings": {
        "en": "The role is in the settings: no chat can lower it, but owners and admins can block you.",
        "zh": "该角色来自设置，不能在聊天中降低，但所有者和管理员可以拉黑您。",
    },
    "whoami_owner_settings": {
        "en": "The role is in the settings and cannot be taken away in a chat.",
        "zh": "该角色来自设置，不能在聊天中取消。",
    },
}
