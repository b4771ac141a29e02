"""Where a text names a person or a machine: addresses, telephone and account numbers, names of folders and hosts."""

from __future__ import annotations

import getpass
import ipaddress
import os
import re
import socket
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from resit.core.logs.secrets import Span


@dataclass(frozen=True, slots=True)
class Identity:
    """What a person and a machine are called."""

    names: tuple[str, ...] = ()
    """Of the person: the user name, the name the system knows."""
    machines: tuple[str, ...] = ()
    homes: tuple[str, ...] = ()
    """Home folders, absolute."""
    folders: tuple[str, ...] = ()
    """Other folders whose names say whose work it is, absolute."""

    def within(self, folders: Iterable[str]) -> Identity:
        """The same with the folders that work was done in."""
        own = tuple(f for f in dict.fromkeys(folders) if len(f) > 3 and f.rstrip("/\\") not in self.homes)
        return Identity(self.names, self.machines, self.homes, own)


_COMMON = """
    user root admin administrator ubuntu runner guest test home work default public shared local localhost nobody docker
    vagrant pi ec2-user node app dev me localdomain computer desktop laptop server
"""
_ANYBODY = frozenset(_COMMON.split())


def this_machine() -> Identity:
    """What this machine and its person are called; nothing is asked of any network."""
    names, homes, machines = list[str](), list[str](), list[str]()
    with suppress(OSError, KeyError, ImportError):
        names.append(getpass.getuser())
    with suppress(OSError, KeyError, ImportError):
        import pwd

        gecos = pwd.getpwuid(os.getuid()).pw_gecos.split(",")[0].strip()
        names += [gecos] if " " in gecos else []
    with suppress(RuntimeError, OSError):
        homes.append(str(Path.home()))
    with suppress(OSError):
        host = socket.gethostname()
        machines += [host, host.partition(".")[0]]
    return Identity(
        tuple(name for name in names if _tells(name)),
        tuple(name for name in dict.fromkeys(machines) if _tells(name)),
        tuple(home for home in homes if len(home) > 2),
    )


def _tells(name: str) -> bool:
    """Whether a name says who somebody is, and is no word of every text."""
    return len(name) >= 3 and name.casefold() not in _ANYBODY


def find_personal(text: str, identity: Identity) -> Iterator[Span]:
    """Every stretch that names a person, a machine or an account."""
    yield from _emails(text)
    yield from _numbers(text)
    yield from _addresses(text)
    yield from _names(text, identity)


# -- e-mail -----------------------------------------------------------------------------------------------------------

_AT = re.compile(r"@|%40|[ \t]?(?:\[at\]|\(at\)|\{at\})[ \t]?", re.IGNORECASE)
_LOCAL = frozenset(".!#$%&'*+/=?^_`{|}~-")
_STOP = frozenset("/=&?'`{|}#$*!^")
"""Signs a local part may hold by the letter, which in a text are nearly always what stands before it."""
_DOT = r"(?:\.|%2E|[ \t]?(?:\[dot\]|\(dot\)|\{dot\})[ \t]?)"
_DOMAIN = re.compile(rf"(?:[\w-]{{1,63}}{_DOT}){{1,8}}(?:xn--[\w-]{{2,59}}|[^\W\d_]{{2,24}})(?![\w-])", re.IGNORECASE)
_LITERAL = re.compile(r"\[(?:IPv6:)?[0-9a-fA-F.:]{3,45}\]")
_LOCALHOST = re.compile(r"[A-Za-z][\w-]{1,62}\.?(?:local|lan|internal|home|corp)?(?![\w.@-])")


def _emails(text: str) -> Iterator[Span]:
    for at in _AT.finditer(text):
        domain = _DOMAIN.match(text, at.end()) or _LITERAL.match(text, at.end())
        if domain is None:
            continue
        start = at.start()
        least = max(0, start - 64)
        if start and text[start - 1] == '"':
            quoted = text.rfind('"', least, start - 1)
            start = quoted if quoted >= 0 else start
        else:
            while start > least and _is_local(text[start - 1]):
                start -= 1
        while start < at.start() and text[start] in ".-~+%":
            start += 1
        local = text[start : at.start()]
        if local and local != "git":
            yield start, domain.end(), "email"


def _is_local(character: str) -> bool:
    return character.isalnum() or (character in _LOCAL and character not in _STOP)


# -- telephone, cards, accounts ---------------------------------------------------------------------------------------

_SEP = r"[ .\-/]"
_PHONE = re.compile(
    r"(?<![\w.+])(?<!\d-)(?:"
    rf"(?:\+|00)[1-9]\d{{0,2}}(?:{_SEP}?\(0?\d{{0,4}}\))?(?:{_SEP}{{0,2}}\d){{6,13}}"
    rf"|\(\d{{2,5}}\)[ \-]{{0,2}}\d{{3,4}}(?:{_SEP}?\d{{2,4}}){{1,3}}"
    rf"|(?:1[ .-])?\d{{3}}[ .-]\d{{3}}[ .-]\d{{4}}"
    rf"|0\d{{1,4}}[ /-]\d{{3,8}}(?:[ -]?\d{{2,4}}){{0,3}}"
    rf"|0\d(?:[ .-]\d\d){{4}}"
    rf"|0[1-9]\d{{8,10}}"
    r")(?!\w|[.,]\d|-\w)"
)
_DIGITS = re.compile(
    r"(?<![\w.,])[(+]{0,2}(?:[A-Z]{1,3}[ -]?)?\d(?:[\d ().\-/]|[A-Z](?=[\d ])){2,30}\d[A-Z]?(?!\w|[.,]\d)"
)
"""Digits in groups, of which what stands before them says what they are."""
_CALLED = re.compile(
    r"(?<![^\W_])(?:tel|phone|mobile?|cell|fax|call|whatsapp|handy|telefon|telephone|sms|ring|dial|mobil)"
    r"(?![^\W_])[^\n\d]{0,24}$",
    re.IGNORECASE,
)
_IBAN = re.compile(
    r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,8}(?:[ -]?[A-Z0-9]{1,3})?(?![A-Za-z0-9])", re.IGNORECASE
)
_CARD = re.compile(r"(?<![\w.,-])(?:\d[ -]?){12,18}\d(?![\w]|[.,-]\d)")
_SSN = re.compile(r"(?<![\w.-])\d{3}-\d{2}-\d{4}(?![\w-]|[.,]\d)")
_LONG = re.compile(r"(?<![\w.,])(?<![0-9a-fA-F]{4}-)\d{9,40}(?![\w]|[.,]\d)")
_ACCOUNT = re.compile(
    r"(?<![^\W_])(?:account|acct|a/c|konto(?:nummer|nr)?|card|kreditkarte|routing|sort[ -]?code|ssn|social security|"
    r"passport|reisepass|licen[cs]e|policy|member(?:ship)?|customer|client|kunden(?:nummer|nr)?|patient|"
    r"tax(?:payer)?|steuer(?:nummer|-?id|nr)?|vat|ust-?id(?:nr)?|insurance|nhs|bsn|nif|dni|cpf|siret|blz|bank|"
    r"national[ -]id|id[ -]card|iban)(?![^\W_])[^\n\d]{0,24}$",
    re.IGNORECASE,
)
_LOOK_BACK = 48
_FIRST_DIGIT = re.compile(r"\d")
_DATE = re.compile(r"(?:19|20)\d\d[-./ ]?(?:0[1-9]|1[0-2])[-./ ]?(?:0[1-9]|[12]\d|3[01])")
_DAY_FIRST = re.compile(r"(?:0?[1-9]|[12]\d|3[01])[-./ ](?:0?[1-9]|1[0-2])[-./ ](?:19|20)\d\d")
_ROUND = re.compile(
    r"\d{1,4}0{6,}|9{9,}|1234567890?|0{5,}\d+|"
    r"1844674407370955161[56]|922337203685477580[78]|429496729[56]|214748364[78]"
)
_COUNTED = re.compile(r"0?123456789")
_EPOCH = re.compile(r"1[4-9]\d{8}(?:\d{3}|\d{6}|\d{9})?")
"""Seconds since 1970 from 2014 to 2033, and their milli-, micro- and nanoseconds."""


def _numbers(text: str) -> Iterator[Span]:
    for found in _IBAN.finditer(text):
        if _iban_sound(found[0]):
            yield found.start(), found.end(), "iban"
    for found in _CARD.finditer(text):
        if luhn(found[0]) and not _DATE.match(found[0]):
            yield found.start(), found.end(), "card"
    for found in _PHONE.finditer(text):
        digits = sum(c.isdigit() for c in found[0])
        if 8 <= digits <= 15 and not _DATE.match(found[0].lstrip("+(")) and not _COUNTED.match(found[0]):
            yield found.start(), found.end(), "phone"
    yield from ((m.start(), m.end(), "number") for m in _SSN.finditer(text))
    for found in _LONG.finditer(text):
        if not (_ROUND.fullmatch(found[0]) or _EPOCH.fullmatch(found[0]) or _is_stamp(found[0])):
            yield found.start(), found.end(), "number"
    yield from _named_numbers(text)


def _named_numbers(text: str) -> Iterator[Span]:
    """Shorter numbers, told by the word before them: `customer no. 48 221`, `call 482 911`."""
    for found in _DIGITS.finditer(text):
        digits = sum(c.isdigit() for c in found[0])
        if digits < 5 or _is_date(found[0]):
            continue
        start = found.start()
        first = _FIRST_DIGIT.search(text, start)
        named_to = first.start() if first else start
        before = text[max(0, start - _LOOK_BACK) : named_to].rpartition("\n")[2]
        if before and digits >= 6 and _CALLED.search(before):
            yield start, found.end(), "phone"
        elif before and _ACCOUNT.search(before):
            yield start, found.end(), "number"


def _is_date(text: str) -> bool:
    return bool(_DATE.match(text) or _DAY_FIRST.match(text))


def _is_stamp(digits: str) -> bool:
    """`20261129235959`."""
    return len(digits) in (12, 14, 17) and bool(_DATE.match(digits))


def luhn(text: str) -> bool:
    """Whether the digits of `text` have the check digit that card numbers have."""
    digits = [int(c) for c in text if c.isdigit()]
    if not 13 <= len(digits) <= 19 or len(set(digits)) < 3:
        return False
    doubled = [d if n % 2 == 0 else (d * 2 - 9 if d > 4 else d * 2) for n, d in enumerate(reversed(digits))]
    return sum(doubled) % 10 == 0


def _iban_sound(text: str) -> bool:
    plain = re.sub(r"[ -]", "", text).upper()
    return _IBAN_LENGTHS.get(plain[:2]) == len(plain)


_IBAN_LENGTHS = {
    country: length
    for length, countries in {
        15: "NO", 16: "BE", 18: "DK FO GL FI NL", 19: "MK SI", 20: "AT BA EE KZ LT LU XK", 21: "CH HR LI LV",
        22: "BG BH CR DE GB GE IE ME RS", 23: "AE GI IL IQ OM TL", 24: "AD CZ ES MD PK RO SA SE SK TN VG",
        25: "LY PT ST", 26: "IS TR", 27: "BI FR GR IT MC MR SM", 28: "AL AZ BY CY DO GT HU LB NI PL SV",
        29: "BR EG PS QA UA", 30: "JO KW MU YE", 31: "MT SC", 32: "LC", 33: "RU",
    }.items()
    for country in countries.split()
}  # fmt: skip


# -- addresses of machines --------------------------------------------------------------------------------------------

_OCTET = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_IPV4 = re.compile(rf"(?<![\w.-]){_OCTET}(?:\.{_OCTET}){{3}}(?![\w]|\.\d)")
_IPV6 = re.compile(r"(?<![\w:.])(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{0,4}(?![\w:])")
_MAC = re.compile(r"(?<![\w:-])[0-9a-fA-F]{2}(?:([:-])[0-9a-fA-F]{2})(?:\1[0-9a-fA-F]{2}){4}(?![\w:-])")
_VERSION = re.compile(r"(?:version|v|release|build|==|>=|<=|~=)[ \t]*$", re.IGNORECASE)
_EVERYWHERE = re.compile(r"127\.|0\.0\.0\.0|255\.|169\.254\.169\.254|1\.2\.3\.4$")


def _addresses(text: str) -> Iterator[Span]:
    for found in _IPV4.finditer(text):
        if not _EVERYWHERE.match(found[0]) and not _VERSION.search(text, max(0, found.start() - 12), found.start()):
            yield found.start(), found.end(), "ip"
    for found in _IPV6.finditer(text):
        if _is_ipv6(found[0]):
            yield found.start(), found.end(), "ip"
    yield from ((m.start(), m.end(), "machine") for m in _MAC.finditer(text))


def _is_ipv6(text: str) -> bool:
    if sum(c != ":" for c in text) < 5 or not any(c.isdigit() for c in text):
        return False
    with suppress(ValueError):
        address = ipaddress.IPv6Address(text)
        return not (address.is_loopback or address.is_unspecified)
    return False


# -- names ------------------------------------------------------------------------------------------------------------

_SOMEBODYS_HOME = re.compile(
    r"(?<![\w.])(?:(?:[A-Za-z]:|/(?:mnt|cygdrive)/[a-z]|/host|file://)?[\\/]{1,4}(?:home|Users|Benutzer|usuarios)[\\/]{1,4}|"
    r"[A-Za-z]:[\\/]{1,4}users[\\/]{1,4}|-(?:home|Users)-)(?P<name>[^\s\\/:*?\"'<>|,;()\[\]{}`-]{1,64})"
)


def _names(text: str, identity: Identity) -> Iterator[Span]:
    names = {*identity.names}
    for found in _SOMEBODYS_HOME.finditer(text):
        name = found["name"].rstrip(".")
        if name.casefold() in _ANYBODY or "$" in name or "<" in name:
            continue
        yield found.start(), found.start("name") + len(name), "home"
        if _tells(name):
            names.add(name)
    for kind, words in (("home", identity.homes), ("folder", identity.folders)):
        for pattern in _paths(words):
            yield from ((m.start(), m.end(), kind) for m in pattern.finditer(text))
    for kind, words in (("machine", identity.machines), ("name", tuple(sorted(names)))):
        for word in words:
            # A name in another case may be any word: `Will` is one, `will` is none.
            flags = re.IGNORECASE if kind == "machine" or " " in word or len(word) >= 6 else re.NOFLAG
            pattern = re.compile(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])", flags)
            yield from ((m.start(), m.end(), kind) for m in pattern.finditer(text))


def _paths(folders: Iterable[str]) -> Iterator[re.Pattern[str]]:
    for folder in folders:
        parts = [re.escape(part) for part in re.split(r"[\\/]+", folder) if part]
        if parts:
            lead = r"[\\/]{1,4}" if folder.startswith(("/", "\\")) else ""
            yield re.compile(lead + r"[\\/]{1,4}".join(parts) + r"(?![\w-])", re.IGNORECASE)
            # How Claude Code names the folder of a project's logs.
            yield re.compile("-" + "-".join(parts) + r"(?![A-Za-z0-9])")
