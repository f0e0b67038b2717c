"""Trajectories: what evidence was available, what was shown of it first, and what was asked for.

One module a protocol: `documents` and `accounts` read `trajectory/v1` and check it, `measurement`
and `comparison` answer in `measurement/v1` and `comparison/v1`, `packets` makes events of Context
Firewall packets, `mutations` holds the older mutation metrics.
"""
