"""The laboratory: metric 2 and what restricting the surface would cost. Nothing here is enforced.

An earlier design scored a surface by its entropy and proposed to take things away from it. The
studies in this folder compute those scores and proposals, and hold them against calls that were
really made. What they write is an artifact of version 1, which loads and has no effect.
"""
