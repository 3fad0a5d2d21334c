"""A small analysis as a model might write it: it reads a table, sums it up, and draws bars with what Python brings."""

SALES = b"month,north,south\nJanuary,120,80\nFebruary,135,95\nMarch,128,110\n"
TOTALS = b"region,total\nnorth,383\nsouth,285\n"

SCRIPT = """\
import csv, struct, zlib

with open("sales.csv", newline="") as file:
    rows = list(csv.DictReader(file))
totals = {name: sum(int(row[name]) for row in rows) for name in ("north", "south")}
with open("totals.csv", "w") as file:
    file.write("region,total\\n" + "".join(f"{name},{total}\\n" for name, total in totals.items()))

width, height = 320, 200
ends = [total * 180 // max(totals.values()) for total in totals.values()]
lines = []
for y in range(height):
    bar = lambda x: next((n for n, end in enumerate(ends) if 60 + n * 110 <= x < 150 + n * 110 and height - y <= end), None)
    pixels = [((66, 133, 244), (219, 68, 55))[n] if (n := bar(x)) is not None else (255, 255, 255) for x in range(width)]
    lines.append(b"\\0" + b"".join(bytes(pixel) for pixel in pixels))


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


with open("chart.png", "wb") as file:
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    file.write(b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"".join(lines))) + chunk(b"IEND", b""))
print("north", totals["north"], "south", totals["south"])
"""
