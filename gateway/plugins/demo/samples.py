"""Sample files that the demo model suggests looking at."""

WELCOME = """\
Welcome to Parley.

This is a file in the workspace of your chat. Every chat has a folder of its own; files that you send end up there,
and the model can read them.

What to say next:

    remind me in 1 minute to stretch                  you see what it will be, and press Confirm
    every weekday at nine send me a report            /cron lists it, and runs it now if you like
    chart sales.csv                                   a skill is loaded, and its script run once you approve
    book a flight from Beijing to Tokyo tomorrow      another skill, which asks for what is missing
    count to 20                                       while it counts: "no, to 5", or /stop
    in the background: count to 5                     it goes on while you talk, and tells you when it is done
    remember: I like tea                              also in the next conversation (/new)
"""

SALES = """\
month,north,south
January,120,80
February,135,95
March,128,110
April,150,131
May,171,149
June,164,172
"""

NOTES = """\
# The garden

- [x] buy seeds
- [ ] water the tomatoes
- [ ] ask Ann about the greenhouse

Fewer visitors on Thursday, see visitors.csv: it rained all day.
"""

VISITORS = """\
day,visitors
Monday,41
Tuesday,48
Wednesday,57
Thursday,44
"""

SAMPLES = {
    "welcome.txt": WELCOME,
    "sales.csv": SALES,
    "notes/garden.md": NOTES,
    "notes/visitors.csv": VISITORS,
}
