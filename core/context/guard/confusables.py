"""Letters that look like Latin ones.

After Unicode's confusables (https://www.unicode.org/Public/security/latest/confusables.txt, Unicode
License V3, © Unicode, Inc.): single lower-case letters whose look-alike is one of a-z and that
compatibility normalisation leaves alone, with the small forms of look-alike capitals.
"""

from __future__ import annotations

_LOOK_ALIKES = {
    "a": (
        "\u0251\u03b1\u0430\u15c5\u1d00\ua4ee\uab7a\U000102a0\U0001d71c\U0001d736\U0001d790\U0001d7aa"
        "\U0001d790\U0001d7aa"
    ),
    "b": (
        "\u0185\u0299\u03b2\u0432\u044c\u13fc\u1472\u15af\u15f7\ua4d0\ua7b5\uab9f"
        "\ua7b5\uab9f\U00010282\U000102a1\U00010301\U0001d71d\U0001d791"
    ),
    "c": "\u03f2\u0441\u1d04\u2ca5\ua4da\uabaf\U000102a2\U00010302\U0001043d\U0001051c",
    "d": "\u0501\u146f\u15de\u15ea\u1d05\ua4d2\ua4d3\uab70\uabb7",
    "e": (
        "\u03b5\u0435\u0437\u04bd\u1d07\u2d39\ua4f0\uab32\uab7c\U00010286\U000118c6\U000118ce"
        "\U000118c6\U000118ce\U0001d720\U0001d794"
    ),
    "f": (
        "\u03dd\u0584\u15b4\u1e9d\ua4dd\ua730\ua799\uab35\U00010287\U000102a5\U00010525\U000118c2"
        "\U00010525\U000118c2"
    ),
    "g": "\u018d\u0261\u0262\u050d\u0581\u13fb\u1d83\ua4d6\uab90",
    "h": (
        "\u029c\u043d\u04bb\u0570\u157c\u2c8f\ua4e7\uab8b\uab92\U000102cf\U0001d722\U0001d796"
        "\U0001d722\U0001d796"
    ),
    "i": (
        "\u0131\u0269\u026a\u037a\u03b9\u0456\u0457\u1fbe\ua647\uab75\U0001d73e\U0001d7b2"
        "\U0001d73e\U0001d7b2"
    ),
    "j": "\u029d\u03f3\u0458\u148d\u1d0a\ua4d9\uab7b",
    "k": "\u03ba\u043a\u16d5\u1d0b\u2c95\ua4d7\uabb6\U00010518\U0001d725\U0001d799",
    "l": (
        "\u01c0\u029f\u04cf\u14aa\u16c1\u2c93\u2cd1\u2d4f\ua4e1\ua4f2\uabae\U0001028a"
        "\uabae\U0001028a\U00010309\U00010443\U00010526\U000118c3\U000118d2\U0001d724\U0001d798"
    ),
    "m": (
        "\u03fb\u043c\u15f0\u16d6\u1d0d\u2c99\ua4df\uab87\U000102b0\U00010311\U0001d727\U0001d79b"
        "\U0001d727\U0001d79b"
    ),
    "n": "\u0274\u03b7\u043f\u0578\u057c\u2c9b\ua4e0\U00010513\U0001d728\U0001d79c",
    "o": (
        "\u03bf\u03c3\u043e\u0585\u10ff\u1d0f\u1d11\u2c9f\u2d54\ua4f3\uab3d\U00010292"
        "\uab3d\U00010292\U000102ab\U0001042c\U000104ea\U00010516\U000118c8\U000118d5\U000118d7\U0001d72a\U0001d744\U0001d748"
        "\U0001d744\U0001d748\U0001d79e\U0001d7b8\U0001d7bc"
    ),
    "p": (
        "\u03c1\u03f1\u0440\u146d\u1d18\u2ca3\ua4d1\uabb2\U00010295\U0001d72c\U0001d746\U0001d754"
        "\U0001d746\U0001d754\U0001d7a0\U0001d7ba\U0001d7c8"
    ),
    "q": "\u051b\u0563\u0566\u2d55",
    "r": (
        "\u0280\u0433\u1587\u1d26\u2c85\ua4e3\uab47\uab48\uab71\uab81\uaba2\U000104dc"
        "\uaba2\U000104dc"
    ),
    "s": "\u01bd\u0455\u057f\ua4e2\ua731\uaba5\uabaa\U00010296\U00010448\U000118c1",
    "t": (
        "\u03c4\u0442\u1d1b\u2ca7\ua4d4\uab72\U00010297\U000102b1\U00010315\U0001d72f\U0001d7a3"
        "\U0001d7a3"
    ),
    "u": (
        "\u028b\u03bc\u03c5\u057d\u144c\u1d1c\ua4f4\ua79f\uab4e\uab52\U000104f6\U000118d8"
        "\U000104f6\U000118d8\U0001d74a\U0001d7be"
    ),
    "v": (
        "\u03bd\u0475\u142f\u1d20\u2d38\ua4e6\uaba9\U0001051d\U000118c0\U0001d742\U0001d7b6"
        "\U0001d7b6"
    ),
    "w": "\u026f\u03c9\u0461\u051d\u0561\u1d21\ua4ea\uab83\uaba4",
    "x": (
        "\u03c7\u0445\u1541\u157d\u16b7\u2cad\u2d5d\ua4eb\uab53\U00010290\U000102b4\U00010317"
        "\U000102b4\U00010317\U00010527\U0001d732\U0001d7a6"
    ),
    "y": (
        "\u0263\u028f\u03b3\u03d2\u0443\u04af\u10e7\u1d8c\u1eff\u2ca9\ua4ec\uab5a"
        "\ua4ec\uab5a\uab79\uab8d\U000102b2\U000118dc\U0001d730\U0001d738\U0001d7a4\U0001d7ac"
    ),
    "z": "\u03b6\u1d22\ua4dc\uab93\U000118c4\U000118c9\U0001d721\U0001d795",
}
# For `str.translate`: each look-alike to its Latin letter.
TO_LATIN = {ord(char): latin for latin, chars in _LOOK_ALIKES.items() for char in chars}
# And Latin letters to the Cyrillic ones they hide: for words that are Cyrillic otherwise.
TO_CYRILLIC = {
    ord(latin): cyrillic
    for latin, cyrillic in zip(
        "aeopcyxkmthb3",
        "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u043a\u043c\u0442\u043d\u0432\u0437",
        strict=True,
    )
}
