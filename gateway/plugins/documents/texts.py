"""Texts of documents."""

TEXTS = {
    "documents_not_read": {"en": "{name} could not be read: {reason}", "zh": "无法读取 {name}：{reason}"},
    "documents_no_text": {
        "en": "{name} has no text: its pages may be scans or pictures.",
        "zh": "{name} 中没有文字，可能是扫描件或图片。",
    },
    "documents_why_broken": {
        "en": "it is damaged, or not what its name says.",
        "zh": "文件已损坏，或内容与文件名不符。",
    },
    "documents_why_cells": {"en": "these are no cells of a sheet.", "zh": "单元格写法不正确。"},
    "documents_why_encrypted": {
        "en": "it is protected by a password. Send a copy without one.",
        "zh": "文件有密码保护，请发送没有密码的副本。",
    },
    "documents_why_missing": {"en": "there is no such file in it.", "zh": "其中没有这个文件。"},
    "documents_why_nested": {"en": "it is nested too deeply.", "zh": "内容嵌套过深。"},
    "documents_why_no_page": {"en": "there is no such page in it.", "zh": "没有这一页。"},
    "documents_why_no_sandbox": {
        "en": "this machine has no sandbox, in which alone files of others are read. `parley doctor` says why.",
        "zh": "这台机器没有沙箱，而外来文件只在沙箱中读取。原因见 `parley doctor`。",
    },
    "documents_why_no_sheet": {"en": "there is no such sheet in it.", "zh": "其中没有这个工作表。"},
    "documents_why_old_office": {
        "en": "it has the format of Office before 2007. Save it as docx, xlsx or pptx, or as PDF.",
        "zh": "这是 2007 年以前的 Office 格式，请另存为 docx、xlsx、pptx 或 PDF。",
    },
    "documents_why_program": {
        "en": "it is a program, whatever its name says.",
        "zh": "它其实是一个程序，与文件名不符。",
    },
    "documents_why_too_large": {"en": "it is too large.", "zh": "文件太大。"},
    "documents_why_too_slow": {
        "en": "it took too long. The file may be damaged, or made to be slow.",
        "zh": "读取时间过长，文件可能已损坏或有意拖慢读取。",
    },
    "documents_why_unknown": {
        "en": "it is no document of a kind that is read here.",
        "zh": "不是这里能读取的文档类型。",
    },
    "documents_why_unseen": {"en": "only pages of PDF files can be seen.", "zh": "只能查看 PDF 文件的页面图像。"},
}
