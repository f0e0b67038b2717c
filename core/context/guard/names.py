"""Whether the name of a value says that the value is a secret."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, TypeAlias

Claim: TypeAlias = Literal["none", "weak", "fair", "strong"]

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
# A name that ends so, or holds one of the second set, tells of a secret without being one.
_ASIDE = frozenset(
    "url uri urls path paths file files filename dir folder name names type types class id "
    "ids kind field fields header headers prefix suffix regex regexp pattern format length "
    "len size count max min limit algorithm alg algo usage expiry expires expiration expire "
    "ttl age timeout label title description desc help message msg error errors hint text "
    "template placeholder hash digest checksum fingerprint version status state enabled "
    "required policy rule rules mode method methods provider endpoint server host port scope "
    "scopes index column table schema separator delimiter sep char chars charset alphabet "
    "counter bytes bits module package import env var variable factory handler manager "
    "service func function callback input output view page form button icon link ref source "
    "kinds map list set pairs at date time".split()
)
_OTHER = frozenset(
    "public pub keyword keywords keyboard keymap foreign primary sort sorting partition cache "
    "keycode author authors authority monkey turkey donkey hockey jockey whiskey keynote "
    "keystone keyframe keyframes tokenizer tokenize tokens detokenize tokenization hotkey "
    "i18n translation locale csrfmiddleware authored coauthor co authorship accredited "
    "credits".split()
)
_SECRET = frozenset(
    "secret secrets password passwords passwd passphrase passcode pass pwd token credential "
    "credentials creds apikey authtoken accesstoken secretkey accesskey privatekey "
    "clientsecret appsecret apitoken authkey auth authorization bearer pat authentication "
    "apisecret masterkey encryptionkey signingkey refreshtoken bottoken accountkey sharedkey "
    "psk sessionkey storagekey passwort kennwort".split()
)
_ENDS = ("password", "passwd", "secret", "apikey", "token", "passphrase", "passwort", "kennwort")
_KEY = frozenset(
    "api access private secret encryption encrypt signing sign auth account master service "
    "license storage client app application shared session admin ssh deploy webhook write "
    "read rest subscription consumer customer project user team org server root hmac aes "
    "cipher crypto signature jwt cookie integration ingest live test prod production".split()
)


@lru_cache(maxsize=4096)
def claim(name: str) -> Claim:
    """How strongly a name (`API_KEY`, `clientSecret`) claims that its value is a secret."""
    words = [word.lower() for word in _WORDS.findall(name)]
    if not words or words[-1] in _ASIDE or not _OTHER.isdisjoint(words):
        return "none"
    if not _SECRET.isdisjoint(words) or any(_ends_in_secret(word) for word in words):
        return "strong"
    if "key" in words or words[-1].endswith("key"):
        if not _KEY.isdisjoint(words):
            return "strong"
        return "fair" if len(words) > 1 and name.isupper() else "weak"
    return "none"


def _ends_in_secret(word: str) -> bool:
    return word.endswith(_ENDS)
