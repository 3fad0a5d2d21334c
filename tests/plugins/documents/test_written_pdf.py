"""PDF files are written from Markdown: what is read back is what was said, and nothing in them starts anything."""

import io

import pypdfium2
import pytest

from agent_core.models.scripted import calls
from gateway.plugins.documents.writer.blocks import blocks_of
from gateway.plugins.documents.writer.font import FOLDER
from gateway.plugins.documents.writer.pdf import pdf_file
from tests.plugins.documents.conftest import Reads, results
from tests.plugins.documents.test_written_files import written

REPORT = """# Lease: what clause 7 says

A **bold** word, *slanted*, ~~struck~~, `code` and [a page](https://example.com/a?b=1&c=2).

Žluťoučký kůň, Łódź, Đà Nẵng, naïve, Привет, ελληνικά → 5 ≤ 6 ✅

## 第七条：逾期付款

合同第七条写明：**逾期十天以上**未付租金的，须支付租金 5% 的滞纳金。ひらがな 한국어

1. first
2. second
   - deeper

> quoted

| Item | Cost |
| --- | --- |
| Rent | 1200 |
| 茶 | 3.50 |

```
x = "<y>"  # 注
```
"""


def content_of(markdown: str) -> bytes:
    return pdf_file(blocks_of(markdown)).content


def pages_of(content: bytes) -> list[str]:
    """Return the text of each page."""
    document = pypdfium2.PdfDocument(content)
    return [page.get_textpage().get_text_range().replace("\r\n", "\n") for page in document]


async def test_a_pdf_reads_as_its_markdown_in_all_its_scripts(reads: Reads) -> None:
    write = calls(("write_document", {"path": "report.pdf", "markdown": REPORT}))
    bot = await reads(write, calls(("read_document", {"path": "report.pdf"})), "Done.")

    await bot.hears("give me this as a PDF")

    made, read = results(bot)
    assert "Created report.pdf" in made
    assert "Left out" not in made
    assert "Title: Lease: what clause 7 says" in read
    for said in (
        *("A bold word, slanted, struck, code and a page (https://example.com/a?b=1&c=2).", "quoted"),
        *("Žluťoučký kůň, Łódź, Đà Nẵng, naïve, Привет, ελληνικά → 5 ≤ 6 ✔", "第七条：逾期付款"),
        *("逾期十天以上未付租金的，须支付租金 5% 的滞纳金。ひらがな 한국어", "1. first\n2. second\n• deeper"),
        *("Item Cost\nRent 1200\n茶 3.50", 'x = "<y>" # 注'),
    ):
        assert said in read.replace("&lt;", "<")


@pytest.mark.parametrize("word", ["第七条", "Łódź", "한국어", "✔"])
def test_its_letters_are_seen_with_no_font_on_the_readers_machine(word: str) -> None:
    (page,) = pypdfium2.PdfDocument(content_of(word))
    boxes = [page.get_textpage().get_charbox(at) for at in range(len(word))]
    picture = page.render(scale=4, grayscale=True).to_pil()

    for left, bottom, right, top in boxes:
        shape = picture.crop((int(left * 4), int((842 - top) * 4), int(right * 4), int((842 - bottom) * 4)))
        assert shape.getextrema()[0] < 100, "a letter is blank"
    assert all(obj.get_font().get_base_name() for obj in page.get_objects(filter=[1]))


def test_it_brings_only_the_letters_that_it_uses() -> None:
    assert len(content_of("第七条写明")) < 60_000 < (FOLDER / "DroidSansFallback.ttf").stat().st_size


@pytest.mark.parametrize(
    "text",
    [
        *(
            "x" * 3_000,
            "第七条写明，" * 500,
            "https://example.com/" + "a/b-c" * 300,
            "| " + "words " * 900 + " | b |\n",
        ),
        *(
            "  " * 15 + "- deep " * 90,
            "```\n" + "y" * 900 + "\n```",
            "\n".join("  " * at + "- deep" for at in range(30)),
        ),
        *(
            "# " + "Heading " * 60,
            "> " * 15 + "quoted " * 50,
            "|" + "a|" * 20 + "\n|" + "-|" * 20 + "\n|" + "wide words|" * 20,
        ),
    ],
)
def test_nothing_leaves_the_page(text: str) -> None:
    if text.startswith("| "):
        text = f"| a | b |\n| --- | --- |\n{text}"

    for page in pypdfium2.PdfDocument(content_of(text)):
        letters = page.get_textpage()
        boxes = [letters.get_charbox(at) for at in range(letters.count_chars())]
        seen = [box for box in boxes if box[2] > box[0]]
        assert seen
        assert min(box[0] for box in seen) > 30
        assert max(box[2] for box in seen) < 595 - 50
        assert min(box[1] for box in seen) > 20


def test_a_table_goes_on_below_its_head_on_the_next_page() -> None:
    rows = "".join(f"| row {number} | {number} |\n" for number in range(90))
    long = "| long | " + "and so on " * 900 + " |\n"

    content = content_of(f"# Costs\n\n| Item | Cost |\n| --- | --- |\n{rows}{long}| last | 1 |\n\nThe end.")
    pages = [" ".join(page.split()) for page in pages_of(content)]

    assert len(pages) > 3
    assert all("Item Cost" in page for page in pages[:-1])
    assert [f"row {number} {number}" in "\n".join(pages) for number in range(90)] == [True] * 90
    assert pages[-1].count("The end.") == 1
    assert pages[1].endswith(f"2 / {len(pages)}")


def test_a_column_is_pushed_to_its_side() -> None:
    (page,) = pypdfium2.PdfDocument(content_of("| Item | Cost |\n| --- | ---: |\n| Rent for May | 1200 |\n| Tea | 5 |"))
    letters = page.get_textpage()
    ends = {letters.get_text_range(at, 1): letters.get_charbox(at)[2] for at in range(letters.count_chars())}

    assert abs(ends["0"] - ends["5"]) < 1.5
    assert ends["a"] < ends["2"] - 10


def test_a_heading_stays_with_what_comes_after_it() -> None:
    for lines in range(28, 44):
        pages = pages_of(content_of("line\n" * lines + "\n# Heading\n\nIts text."))

        (page,) = [page for page in pages if "Heading" in page]
        assert "Its text." in page


def test_words_are_never_commands() -> None:
    hostile = r") Tj ET endstream endobj 9 0 obj << /S /JavaScript /JS (app.alert(1)) >> \) <script>alert(1)</script>"
    content = content_of(
        f"# {hostile}\n\n{hostile}\n\n[{hostile}](https://example.com/x)\n\n| a |\n| --- |\n| =cmd\\|'/c'!A1 |"
    )

    assert "/JavaScript" in pages_of(content)[0].replace("\n", " ")
    assert not [
        word for word in (b"/JS", b"/JavaScript", b"/URI", b"/Action", b"/AA", b"/OpenAction") if word in content
    ]
    assert len(pypdfium2.PdfDocument(io.BytesIO(content))) == 1


async def test_pictures_that_no_font_has_are_left_out_and_told(reads: Reads) -> None:
    bot = await reads(calls(("write_document", {"path": "a.pdf", "markdown": "Done 🎉 and ⑴ 🚀 1️⃣"})), "Done.")

    await bot.hears("write it")

    assert "Left out, as no font here has them: 🎉 🚀. send_file sends it to the person." in results(bot)[0]
    assert "Done and (1)" in pages_of(written(bot, "a.pdf"))[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "สวัสดี ok",
            "no font here has these letters: ส ว ั ด ี. Next: write a Word file (.docx), which shows all letters",
        ),
        ("שלום", "no font here has these letters: ש ל ו ם."),
        ("|" + "a|" * 21 + "\n|" + "-|" * 21, "a page has room for 20 columns. Next: write an Excel file (.xlsx)"),
    ],
)
async def test_what_a_pdf_cannot_show_is_refused_with_what_can(reads: Reads, text: str, said: str) -> None:
    bot = await reads(calls(("write_document", {"path": "a.pdf", "markdown": text})), "I see.")

    await bot.hears("write it")

    assert f"Error: {said}" in results(bot)[0]


def test_the_same_words_make_the_same_file() -> None:
    assert content_of(REPORT) == content_of(REPORT)
