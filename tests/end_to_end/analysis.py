"""A small analysis script as a model might write it: reads a table, sums it up, and draws bars without libraries."""

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
white, colours = (255, 255, 255), ((66, 133, 244), (219, 68, 55))
tops = [height - total * 180 // max(totals.values()) for total in totals.values()]


def colour(x, y):
    for number, top in enumerate(tops):
        if 60 + number * 110 <= x < 150 + number * 110 and y >= top:
            return colours[number]
    return white


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


lines = [b"\\0" + b"".join(bytes(colour(x, y)) for x in range(width)) for y in range(height)]
header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
with open("chart.png", "wb") as file:
    file.write(b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", header))
    file.write(chunk(b"IDAT", zlib.compress(b"".join(lines))) + chunk(b"IEND", b""))
print("north", totals["north"], "south", totals["south"])
"""
