# SPDX-License-Identifier: BSD-3-Clause
"""`weir learn --live` and `--server`: two ends that probe the path between them, and note when each
packet was sent and came. Needs nothing but Python, except client.py, which learns.

The client opens a TCP connection, the *control connection* (control.py). The server answers with a
cookie, and the client sends it by UDP, so the server knows that who asks also receives. Nothing
else is answered by UDP, and nothing is sent to any other address: nobody is hit by a server whose
address he did not come from. Both then go through the same turns (turns.py), and send the packets
of a plan (plan.py) with one prober each (prober.py). At last the server hands over its notes.
"""
