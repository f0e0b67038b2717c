"""Offers as many as an answer is chosen from, by a seed."""

from __future__ import annotations

from random import Random

from fabricd.core.context.selecting.offering import Offer


def wide(seed: int, units: int = 300, files: int = 60) -> tuple[list[Offer], list[int]]:
    """Units of source size in some files, with the files' headers; the sizes fall off as real."""
    rng = Random(seed)
    count = [0] * files
    heads: list[list[int]] = [[] for _ in range(files)]
    offers: list[Offer] = []
    for _ in range(units):
        file = rng.randrange(files)
        parent = rng.choice(heads[file]) if heads[file] and rng.random() < 0.7 else -1
        full = min(4000, int(rng.lognormvariate(5, 1)) + 15)
        skeleton = full * 3 // 10 + 15 if full > 60 and rng.random() < 0.6 else 0
        opening = rng.randint(20, 40) if rng.random() < 0.15 else 0
        if opening:
            heads[file].append(count[file])
        relevance = 1000 + int(1_000_000 * rng.random() ** 3)
        reference = rng.randint(14, 26)
        offers.append(
            Offer(file, count[file], relevance, parent, opening, reference, skeleton, full)
        )
        count[file] += 1
    return offers, [rng.randint(5, 14) for _ in range(files)]
