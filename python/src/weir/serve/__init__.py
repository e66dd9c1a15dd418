# SPDX-License-Identifier: BSD-3-Clause
"""`weir serve`: metrics, events and a page over HTTP (docs/serve.md). A client of weir's socket on
one side, an HTTP server on the other. No HTTP enters the emulator.

    listen.py       the address for browsers
    server.py       the connections of browsers: a thread for each
    visitor.py      one of them, its requests and answers (message.py)
    request.py      the checks of what comes from a browser
    routes.py       the paths, and the function that answers each
    feed.py         the conversation with weir: events, samples, totals
    stream.py       server-sent events
    changes.py      queries and changes, two at once
    metrics.py      OpenMetrics, and the text format of Prometheus
    connections.py  the last connections, and where their time went
    page/           the page
"""
