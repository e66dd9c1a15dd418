# SPDX-License-Identifier: BSD-3-Clause
"""`weir top`: a live view in a terminal (docs/top.md). A client of the protocol, which uses nothing
else of weir.

    command.py  the main loop: keys, the connection and the picture
    talk.py     the connections: what is pushed, queries, a lease, a dump of the flight
    model.py    what is shown: rows, their histories, events
    screen.py   the picture, with curses
    keys.py     keys, and a line that is typed
    text.py     short numbers, bars, and the part of a text that fits
    signals.py  signals, as something to wait for
"""
