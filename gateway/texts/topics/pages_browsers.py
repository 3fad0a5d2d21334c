"""Texts of the screen of browsers."""

TEXTS = {
    "page_browsers": {"en": "Browsers", "zh": "浏览器"},
    "page_browsers_who": {"en": "Acts for", "zh": "身份"},
    "page_browsers_machine": {"en": "owner at this machine", "zh": "本机所有者"},
    "page_browsers_you": {"en": "you", "zh": "您"},
    "page_browsers_used": {"en": "Last use", "zh": "最近使用"},
    "page_browsers_place": {"en": "From", "zh": "来源地址"},
    "page_browsers_rename": {"en": "Rename", "zh": "改名"},
    "page_browsers_rename_of": {"en": "Rename {name}", "zh": "给 {name} 改名"},
    "page_browsers_new_name": {"en": "New name of {name}", "zh": "{name} 的新名称"},
    "page_browsers_out": {"en": "Sign out", "zh": "登出"},
    "page_browsers_out_of": {"en": "Sign out: {name}", "zh": "登出 {name}"},
    "page_browsers_out_all": {"en": "Sign me out everywhere", "zh": "登出我的所有浏览器"},
    "page_browsers_none": {
        "en": "The browsers that are signed in will be listed here, with their last use.",
        "zh": "已登录的浏览器及其最近使用时间会显示在这里。",
    },
    "page_browsers_add": {"en": "Another browser or a phone", "zh": "其他浏览器或手机"},
    "page_browsers_add_how": {
        "en": "A link works once, within ten minutes, and signs a browser in as you. Scan its code with the phone.",
        "zh": "链接只能使用一次，十分钟内有效，打开它的浏览器将以您的身份登录。可用手机扫描二维码。",
    },
    "page_browsers_link": {"en": "New link", "zh": "新链接"},
    "page_browsers_code": {"en": "QR code of the link", "zh": "链接的二维码"},
    "page_browsers_until": {"en": "valid until", "zh": "有效期至"},
    "page_browsers_alone": {
        "en": "Only this machine can reach the page, where parley link prints a link. To open it from a phone, set "
        "PARLEY_WEB_URL with a certificate or a proxy: docs/page.md says how.",
        "zh": "目前只有本机可以访问此页面，在本机执行 parley link 可获取链接。要用手机打开，请设置 PARLEY_WEB_URL "
        "并配置证书或代理，见 docs/page.md。",
    },
}
