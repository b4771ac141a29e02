"""Where a text holds what opens something: keys, tokens, passwords, and strings too random to be anything else.

Patterns begin with fixed letters and repeat within bounds, so that no text makes them slow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

Span = tuple[int, int, str]
"""Start, end and kind of a stretch."""

_B64: Final = r"[A-Za-z0-9_+/=-]"
_KNOWN = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"sk-[A-Za-z0-9_-]{16,400}"
    r"|(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{8,200}|whsec_[A-Za-z0-9+/=]{16,200}"
    r"|gh[pousr]_[A-Za-z0-9]{16,300}|github_pat_[A-Za-z0-9_]{16,300}|gl(?:pat|dt|rt|soat|ptt|cbt)-[A-Za-z0-9_.-]{12,200}"
    r"|(?:AKIA|ASIA|AROA|AIDA|AGPA|ANPA|ABIA|ACCA)[A-Z0-9]{12,32}"
    r"|AIza[A-Za-z0-9_-]{20,100}|ya29\.[A-Za-z0-9_-]{16,400}|GOCSPX-[A-Za-z0-9_-]{12,100}|1//0[A-Za-z0-9_-]{16,200}"
    r"|xox[a-z]{1,2}-[A-Za-z0-9-]{10,300}|xapp-[A-Za-z0-9-]{10,300}"
    r"|(?<![_-])eyJ[A-Za-z0-9_-]{6,300}(?:\.[A-Za-z0-9_-]{0,4000}){1,4}"
    r"|(?:npm|hf|r8|ntn|lin_api|figd|tfp|sbp|glsa|glc|phc|phx|dckr_pat|doo_v1|dop_v1|dor_v1|gsk|tvly|fw|nvapi)[_-]"
    r"[A-Za-z0-9_-]{16,300}"
    r"|(?:xai|pplx|PMAK|CFPAT|pul|NRAK|NRJS|sl\.B|key)-[A-Za-z0-9_.-]{20,300}"
    r"|pypi-[A-Za-z0-9_-]{20,400}|shp(?:at|ss|ca|pa)_[A-Za-z0-9]{16,64}|sq0[a-z]{3}-[A-Za-z0-9_-]{16,100}"
    r"|SG\.[A-Za-z0-9_-]{12,64}\.[A-Za-z0-9_-]{12,100}|hvs?[bs]?\.[A-Za-z0-9_-]{20,300}|dapi[a-f0-9]{28,40}"
    r"|atlasv1\.[A-Za-z0-9_-]{20,200}|AGE-SECRET-KEY-1[A-Z0-9]{20,80}|EAA[A-Za-z0-9]{28,300}|vercel_[A-Za-z0-9]{16,64}"
    r"|[0-9]{8,10}:AA[A-Za-z0-9_-]{28,40}|[MNO][A-Za-z0-9_-]{22,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{26,40}"
    r"|\$(?:2[abxy]|argon2[id]{1,2}|[156y]|scrypt)\$[A-Za-z0-9./+=,$-]{16,200}"
    r")"
)
_SLACK_HOOK = re.compile(r"hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9_/-]{8,200}")
_DISCORD_HOOK = re.compile(r"discord(?:app)?\.com/api/webhooks/[0-9]{5,25}/[A-Za-z0-9_-]{8,200}")
_PEM_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{1,60}-----")
_PEM_END = re.compile(r"-----END [A-Z0-9 ]{1,60}-----")
_PEM_LINE = re.compile(r"(?:\\r|\\n|[\s\"',]){0,40}[A-Za-z0-9+/=:-]{8,200}")
_URL_LOGIN = re.compile(r"://([^\s/:@\"'<>]{0,100}:[^\s\"'<>]{1,200}?)@(?=[\w\[])")
_URL_TOKEN = re.compile(r"://(?!git@)([^\s/:@\"'<>?#]{1,200})@(?=[\w\[])")
_PORT = re.compile(r"[^:]*:\d{1,5}(?:/|$)")

_PASSWORDS: Final = (
    "password", "passwords", "passwd", "passphrase", "passcode", "passwort", "kennwort", "mot de passe", "contraseña",
    "contrasena", "wachtwoord", "senha", "пароль", "密码", "パスワード", "hasło", "lösenord", "pwd",
)  # fmt: skip
_TOKENS: Final = (
    "secret", "token", "key", "key_base", "sig", "credential", "credentials", "signature",
    "session", "sessionid", "session_id", "sessid", "sid", "csrf",
    "xsrf", "auth", "otp", "jwt", "pass",
)  # fmt: skip
_QUOTE: Final = r"(?:\\{0,3}[\"'`]|&quot;)?"
_TAIL = re.compile(rf"\d{{0,2}}{_QUOTE}[\])]?[ \t]{{0,8}}(?P<sign>:=|=>|[:=：])[ \t]{{0,8}}(?P<quote>{_QUOTE})")
_BEFORE_KEY = re.compile(
    r"(?:api|access|account|auth|private|secret|encryption|signing|licen[sc]e|master|shared|ssh|deploy|service|client|"
    r"consumer|storage|hmac|session|webhook|jwt|root|admin|host|app|api2|subscription|instrumentation)[ _.-]?$",
    re.IGNORECASE,
)
_PROSE = re.compile(
    r"(?P<word>password|passphrase|passcode|passwort|kennwort|\bpwd|\bpin)\b"
    r"(?:[ \t]+(?!(?:and|but|or)\b)[^\s.:=]{1,20}){0,4}?[ \t]+(?:is|was|ist|lautet|to)[ \t:]{1,4}(?P<quote>[\"'`“„]?)",
    re.IGNORECASE,
)
_FLAG = re.compile(
    r"(?<![\w-])--?[a-z-]{0,30}?(?:password|passwd|passphrase|secret|token|api-?key|access-key|auth-?key)[ \t=]{1,4}"
    r"(?P<quote>[\"']?)",
    re.IGNORECASE,
)
_DASH_P = re.compile(
    r"\b(?:mysql(?:dump|admin)?|mariadb|sshpass|redis-cli|mongo(?:sh)?)\b[^\n|;]{0,200}?"
    r"[ \t]-[pa][ \t]?(?P<quote>[\"']?)"
)
_DASH_U = re.compile(r"[ \t](?:-u|--user|--proxy-user)[ \t=]?[\"']?([^\s:\"']{1,100}:[^\s\"']{1,200})")
_NETRC = re.compile(r"\blogin[ \t]+\S{1,100}[ \t]+password[ \t]+(?P<quote>[\"']?)")
_PGPASS = re.compile(r"^[\w.*-]{1,100}:[\d*]{1,5}:[^:\s]{1,60}:[^:\s]{1,60}:(\S{1,200})[ \t]*$", re.MULTILINE)
_HEADER = re.compile(
    r"authorization[\"'\\]{0,4}[ \t]{0,4}[:=,][ \t]{0,4}[\"'\\]{0,4}(?:[a-z-]{2,20}[ \t]+)?(?P<quote>)", re.IGNORECASE
)
_BEARER = re.compile(r"\b(?:bearer|basic|apikey)[ \t]+(?P<value>[A-Za-z0-9._~+/=-]{8,4000})", re.IGNORECASE)
_COOKIE = re.compile(r"\b(?:set-)?cookie[\"'\\]{0,3}[ \t]{0,4}:[ \t]{0,4}[\"'\\]{0,3}([^\n\"']{4,4000})", re.IGNORECASE)
_CODE = re.compile(
    r"\b(?:verification|security|login|one[- ]time|2fa|mfa|otp|auth\w{0,12}|access|pin|tan|entry|door|gate|alarm)[ -]?"
    r"(?:code|pin|password|tan)?(?:[ \t]+(?:is|for|to|from)[ \t]+(?:[\w']{1,20}[ \t]+){0,3}?|[ \t]{0,2}[:=][ \t]{0,2}|"
    r"[ \t]+(?=\d{6}\b|\d{3}[ -]\d{3}\b))(?:is[ \t]+)?[\"'`]?(\d{4}(?:[ -]?\d{2,4})?|\d{3}[ -]\d{3})"
    r"(?![\w%]|[.,]?\d|[ \t](?:ms|s|MB|GB|times|items|lines|files)\b)",
    re.IGNORECASE,
)
_CLOSING = {'"': '"', "'": "'", "`": "`", "“": "”", "„": "“", "&quot;": "&quot;"}
_BARE = re.compile(r"[^\s,;&\"'`<>)\]}|]{1,500}")
_LONG_VALUE = 2_000
_ASCII_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}

_ABOUT = """
    a an the not no none null nil true false yes on off empty blank unset set missing required optional invalid
    wrong incorrect correct right string str text int bytes bool number object any unknown undefined default
    disabled enabled changeme redacted hidden masked removed todo example placeholder stored saved kept sent used
    here there below above in at of for from to by with via only also still too very now then what which when where
    who how why that this it its your my our their his her be been being reset changed encrypted hashed plain weak
    strong long short safe secure broken gone lost bad good fine okay easy simple valid expired rejected accepted
    checked needed given asked typed entered shown logged read written printed never always already automatically
    same different one two three auto manual basic bearer oauth jwt ldap kerberos header body query cookie function
    class const let var def return async await public private static user users admin
"""
_NO_SECRET = frozenset(_ABOUT.split())
"""Words that stand behind `password:` or `password is` where no password does."""
_STANDS_FOR = re.compile(
    r"\$\{?\{?\w|%[A-Za-z_]\w*%|%[sdrq]\b|\{\{|<|\*{3}|•{3}|x{3,}$|X{3,}$|\.{3}|…|\[|%\(|@\w+@|process\.env|os\.|env[.(\[]|getenv|ENV\[|"
    r"secrets\.|vault:|self\.|this\.|config[.\[]|settings[.\[]|args\.|params[.\[]|request\.|req\.|options?\."
)
_SAYS_HOW = re.compile(r"\b(?:must|should|please|enter|choose|characters?|least|your|does|did|cannot|can't)\b")
_CALL = re.compile(r"[A-Za-z_][\w.]{0,80}[\[(]")
_CODE_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")


def find_secrets(text: str) -> Iterator[Span]:
    """Every stretch that is, or may be, a key, a token or a password."""
    yield from ((m.start(), m.end(), "key") for m in _KNOWN.finditer(text) if not _is_words(m[0]))
    yield from ((m.start(), m.end(), "key") for p in (_SLACK_HOOK, _DISCORD_HOOK) for m in p.finditer(text))
    yield from _pem_blocks(text)
    yield from _logins(text)
    yield from _assigned(text)
    yield from _spoken(text)
    yield from _headers(text)
    yield from _random_tokens(text)


def _is_words(found: str) -> bool:
    """`sk-learn-preprocessing-pipeline` and `key-value-store-of-the-year` are no keys."""
    return found[:3] in ("sk-", "key", "sl.", "xox", "fw_", "fw-", "hf_", "npm") and bool(
        re.fullmatch(r"[a-z]+(?:[_.-][a-z]{1,20})+\d?", found)
    )


def _pem_blocks(text: str) -> Iterator[Span]:
    at = 0
    while begin := _PEM_BEGIN.search(text, at):
        end = _PEM_END.search(text, begin.end(), begin.end() + 20_000)
        at = end.end() if end else begin.end()
        # A block that was cut off is taken line by line.
        while not end and (line := _PEM_LINE.match(text, at)):
            at = line.end()
        yield begin.start(), at, "key"


def _logins(text: str) -> Iterator[Span]:
    for found in _URL_LOGIN.finditer(text):
        if not _PORT.match(found[1]) and not _STANDS_FOR.match(found[1].partition(":")[2]):
            yield found.start(1), found.end(1), "password"
    for found in _URL_TOKEN.finditer(text):
        if len(found[1]) >= 8:
            yield found.start(1), found.end(1), "key"
    for pattern in (_DASH_U, _PGPASS):
        for found in pattern.finditer(text):
            if not _STANDS_FOR.match(found[1].rpartition(":")[2]):
                yield found.start(1), found.end(1), "password"


def _assigned(text: str) -> Iterator[Span]:
    """What stands behind `password =`, `"api_key":` and their like."""
    lowered = text.lower()
    if len(lowered) != len(text):
        # Lower case of a few letters is longer; a place found there would be another one here.
        lowered = text.translate(_ASCII_LOWER)
    for words, spoken in ((_PASSWORDS, True), (_TOKENS, False)):
        for word in words:
            for at in _places(lowered, word):
                tail = _TAIL.match(text, at + len(word))
                if tail is None or not (spoken or _is_name(text, at, word, tail["sign"])):
                    continue
                start, end = _value(text, tail.end(), tail["quote"])
                value = text[start:end]
                if is_password(value) if spoken or word == "pass" else _is_token(value, quoted=bool(tail["quote"])):
                    yield start, end, "password" if spoken or word == "pass" else "key"


def _places(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))


def _is_name(text: str, at: int, word: str, sign: str) -> bool:
    """Whether a short word names a secret here, and is no part of another: `inside:`, `compass:`, `monkey:`."""
    before = text[at - 1 : at] if at else ""
    if word == "key":
        return bool(_BEFORE_KEY.search(text, max(0, at - 16), at))
    if word == "pass":
        return before == "_" or (not before.isalpha() and sign == "=")
    return word not in ("sid", "sig", "auth", "otp", "jwt", "session") or not before.isalpha()


def _value(text: str, start: int, quote: str) -> tuple[int, int]:
    """Where the value that starts here ends: at its quote on the same line, else at what no bare value holds."""
    if quote:
        plain = quote.lstrip("\\")
        closing = quote[: len(quote) - len(plain)] + _CLOSING.get(plain, plain)
        end = text.find(closing, start, start + _LONG_VALUE)
        if end >= 0 and "\n" not in text[start:end]:
            return start, end
    bare = _BARE.match(text, start)
    if bare is None:
        return start, start
    value = bare[0].split("\\n")[0].split("\\r")[0].rstrip("\\").rstrip(".?!:" if not quote else "")
    return start, start + len(value)


def is_password(value: str) -> bool:
    """Whether what stands where a password would is one, and no word about it."""
    word = value.strip().casefold().rstrip(".,!?")
    if len(word) < 3 or word in _NO_SECRET or _STANDS_FOR.match(value) or _CALL.match(value):
        return False
    if " " in word:
        parts = re.split(r"[\s/]+", word)
        about = sum(part in _NO_SECRET for part in parts)
        return about * 2 <= len(parts) and len(word) < 80 and not _SAYS_HOW.search(word)
    return not _CODE_NAME.fullmatch(value)


def _is_token(value: str, *, quoted: bool) -> bool:
    """Whether what stands where a token would is one: long enough, and no plain word."""
    if len(value) < 6 or not is_password(value) or value.casefold() in _NO_SECRET:
        return False
    if any(c.isdigit() for c in value) and any(c.isalpha() for c in value):
        return len(value) >= 8
    if value.isdigit():
        return False
    mixed = value != value.lower() and value[1:] != value[1:].lower()
    plain_name = re.fullmatch(r"[A-Za-z]+(?:[_.\s-][A-Za-z]+)*", value) is not None
    if plain_name:
        return (quoted and mixed and len(value) >= 12 and " " not in value and "_" not in value) or looks_random(value)
    return len(value) >= 8 and " " not in value and re.fullmatch(r"[\w.:/-]+", value) is None


def _spoken(text: str) -> Iterator[Span]:
    """Passwords in a sentence, behind an option of a command, and codes that are read out."""
    for pattern in (_PROSE, _FLAG, _DASH_P, _NETRC):
        for found in pattern.finditer(text):
            start, end = _value(text, found.end(), found["quote"])
            value = text[start:end]
            if pattern is _PROSE and found["word"].casefold() == "pin" and not value.isdigit():
                continue
            if is_password(value) and not value.startswith("-"):
                yield start, end, "password"
    yield from ((m.start(1), m.end(1), "password") for m in _CODE.finditer(text))


def _headers(text: str) -> Iterator[Span]:
    for found in _HEADER.finditer(text):
        start, end = _value(text, found.end(), found["quote"])
        value = text[start:end]
        if len(value) >= 6 and is_password(value) and not value.isalpha():
            yield start, end, "key"
    for found in _BEARER.finditer(text):
        value = found["value"].rstrip(".")
        if len(value) >= 20 or (any(c.isdigit() for c in value) and any(c.isalpha() for c in value)):
            yield found.start("value"), found.start("value") + len(value), "key"
    yield from ((m.start(1), m.end(1), "key") for m in _COOKIE.finditer(text) if "=" in m[1])


# -- strings too random to be words -----------------------------------------------------------------------------------

_TOKEN = re.compile(r"[A-Za-z0-9_+/-]{20,}={0,2}")
_PARTS = re.compile(r"[A-Za-z0-9]+")
_RUNS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F]{32,}")
_UUID = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
_FINGERPRINT = re.compile(
    r"(?:commit|sha-?\d{0,3}|md5|digest|checksum|rev|revision|tree|parent|blob|merge|index|hash|etag|@|integrity)"
    r"[\"'\s:=/~@-]{0,6}$",
    re.IGNORECASE,
)
_LONGEST_JUDGED = 4_000


def _random_tokens(text: str) -> Iterator[Span]:
    for found in _TOKEN.finditer(text):
        token = found[0].strip("=+/-_")
        start = found.start() + found[0].index(token) if token else found.start()
        if len(token) < 20 or _FINGERPRINT.search(text, max(0, start - 24), start):
            continue
        if len(token) > _LONGEST_JUDGED or _is_secret_token(token):
            yield start, found.end(), "key"


def _is_secret_token(token: str) -> bool:
    if _UUID.fullmatch(token):
        return False
    if _HEX.fullmatch(token):
        return any(c.isdigit() for c in token) and any(c.isalpha() for c in token)
    if "_" not in token and "-" not in token and looks_random(token.replace("/", "").replace("+", ""), least=20):
        # A path has words between its slashes.
        parts = token.split("/")
        if len(parts) < 3 or sum(len(part) for part in parts if _part_random(part)) * 2 >= len(token):
            return True
        return len(token) >= 28 and token != token.lower() and max(map(len, _RUNS.findall(token))) <= 6
    chance = sum(len(part) for part in _PARTS.findall(token) if _part_random(part))
    return chance >= 16 and chance * 2 >= len(token)


def _part_random(part: str) -> bool:
    return looks_random(part, least=8)


def looks_random(word: str, *, least: int = 16) -> bool:
    """Whether letters and digits change places as often as chance has it, and no word would."""
    if len(word) < least:
        return False
    runs = len(_RUNS.findall(word)) or 1
    digits = sum(c.isdigit() for c in word)
    if digits == len(word):
        return False
    average = len(word) / runs
    if digits >= 2:
        return average <= (4.0 if len(word) >= 20 else 2.9)
    # Of letters drawn by chance one in five is a vowel, of English ones two.
    vowels = sum(c in "aeiouAEIOU" for c in word)
    mixed = word != word.lower() and word != word.upper()
    return average <= 2.6 or (mixed and len(word) >= 20 and average <= 4.5 and vowels * 4 <= len(word))
