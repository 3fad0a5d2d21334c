"""Draws a small bar chart as a PNG. Its labels are digits and dates, which need no translation.

Imported by name, only to draw one: Pillow takes time and memory to import.
"""

import io
from collections.abc import Sequence

from PIL import Image, ImageDraw, ImageFont

from gateway.records.spending_report import Bar

WIDTH, HEIGHT = 800, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 90, 16, 22, 40
_INK, _GRID, _PAPER = (70, 70, 78), (225, 225, 230), (255, 255, 255)
_BAR, _ESTIMATE = (58, 110, 200), (165, 190, 230)
_LINES = 4
"""Lines of the grid above the axis."""
_MOST_LABELS = 10
_TEXT = 15
"""Height of the text in pixels."""


def bar_chart(bars: Sequence[Bar], unit: str) -> bytes:
    """Return the chart as PNG. `unit` is written beside the largest value. Blocks for a moment."""
    image = Image.new("RGB", (WIDTH, HEIGHT), _PAPER)
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(_TEXT)
    top = _round_up(max((bar.value for bar in bars), default=0.0))
    base, height = HEIGHT - _BOTTOM, HEIGHT - _TOP - _BOTTOM
    for line in range(_LINES + 1):
        y = base - height * line / _LINES
        draw.line((_LEFT, y, WIDTH - _RIGHT, y), fill=_INK if not line else _GRID)
        label = f"{_digits(top * line / _LINES)} {unit}" if line == _LINES else _digits(top * line / _LINES)
        draw.text((_LEFT - 8, y), label, fill=_INK, font=font, anchor="rm")
    step = (WIDTH - _LEFT - _RIGHT) / max(1, len(bars))
    every = -(-len(bars) // _MOST_LABELS)
    for place, bar in enumerate(bars):
        left, right = _LEFT + step * (place + 0.15), _LEFT + step * (place + 0.85)
        y, solid = (base - height * value / top for value in (bar.value, bar.value - bar.estimated))
        draw.rectangle((left, y, right, base), fill=_ESTIMATE)
        draw.rectangle((left, solid, right, base), fill=_BAR)
        if place % every == 0:
            draw.text(((left + right) / 2, base + 8), bar.label, fill=_INK, font=font, anchor="ma")
    written = io.BytesIO()
    image.save(written, "PNG", optimize=True)
    return written.getvalue()


def _round_up(value: float) -> float:
    """Return a round number that is not smaller; 1 for zero."""
    if value <= 0:
        return 1.0
    size = 10.0 ** len(str(int(value))) if value >= 1 else 1.0
    while size / 10 >= value:
        size /= 10
    return next(size * part for part in (0.1, 0.2, 0.4, 0.5, 0.8, 1.0) if size * part >= value)


def _digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.4g}"  # noqa: PLR2004
