"""The table of secret patterns, as data.

A secret is recognised by its own form (`ghp_…`), by the name beside it (`password=…`) or by the command that takes it
(`curl -u user:…`). Every pattern names a literal that must be in the text, and a hint of what follows it: checking for
a hint runs at gigabytes per second, a pattern at tens of megabytes. Every quantifier is bounded and possessive, so a
program cannot make the search slow. Text before a name is matched by a pattern that reads backwards from the name, so
that it starts at only one position. Hints are searched in linear time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

from dragoman.core.redaction import value_checks

Accepts = Callable[[bytes], bool]


class CharacterRun(NamedTuple):
    """A secret that continues as long as its characters do."""

    others: bytes
    """A translation table that replaces all other characters with a space."""
    least: int
    most: int


class SecretPattern(NamedTuple):
    literal: bytes
    """In lower case."""
    whole: re.Pattern[bytes]
    """Matches from the literal on; the group `secret` is hidden."""
    partial: re.Pattern[bytes]
    """The same for text that is cut off at the end."""
    before: re.Pattern[bytes] | None = None
    """What must precede the literal, read backwards and in lower case."""
    accepts: Accepts | None = None
    likely: bool = True
    """Whether a long beginning counts as a secret if nothing follows."""
    gate: re.Pattern[bytes] | None = None
    """Checked once before all patterns that share it."""
    hint: str = ""
    """What the text must contain, in lower case and in the syntax of `pattern_check`; default: the gate, or the
    literal.
    """
    starts: bytes = b""
    """The characters that may follow the name, as found by the last group of the gate; empty allows any."""
    command: re.Pattern[bytes] | None = None
    """Matches a command at the literal; the patterns then match one of its options."""
    run: CharacterRun | None = None
    """The secret, if the patterns end right before it."""


# A set of plain characters is searched several times faster than one with \w or \s.
_SPACE = r" \t\n\r\x0b\x0c"
_WORD = "[A-Za-z0-9_-]"


def _form(
    literal: str, head: str, body: str, least: int, most: int, end: str = "",
    *, cut_end: str = "", fold: bool = True, taken: str = "+", **more: Any,
) -> SecretPattern:  # fmt: skip
    """A pattern: `head`, then `least` to `most` times `body` as the secret, then `end`; `cut_end` is a cut-off end.

    The body is matched possessively (`taken`) unless `end` may start with characters of the body.
    """
    flags = re.IGNORECASE if fold else 0
    whole = re.compile(f"{head}(?P<secret>{body}{{{least},{most}}}{taken}){end}".encode(), flags)
    partial = re.compile(f"{head}(?P<secret>{body}{{1,{most}}}{taken}){cut_end}\\Z".encode(), flags)
    return SecretPattern(literal.encode(), whole, partial, **more)


@cache
def _others(body: str) -> bytes:
    belongs = re.compile(body.encode())
    return bytes(ord("a") if belongs.match(bytes([code])) else ord(" ") for code in range(256))


def _running(literal: str, head: str, body: str, least: int, most: int, **more: Any) -> SecretPattern:
    """Like `_form`, without an end. Its long body is scanned only once, although many heads may precede it."""
    pattern = re.compile(head.encode(), re.IGNORECASE)
    return SecretPattern(literal.encode(), pattern, pattern, run=CharacterRun(_others(body), least, most), **more)


# Names, and the ways in which a value follows one.

_SPACES = r"[ \t]{0,3}"
# A value may be wrapped by its language, or follow its type in a PHP dump.
_WRAPPED = r"(?:(?:some|just|string|secret(?:str|string|bytes)?)\(|\s{1,10}string\(\d{1,6}\) |[bru]{1,2})?"
_QUOTE = rf"\\?['\"]?\]?{_SPACES}(?:=>|[!:=]{{1,3}}){_SPACES}{_WRAPPED}(?P<quote>['\"`])"
_QUOTED = r"(?:\\[^\r\n]|(?!(?P=quote))[^\r\n\\])"
_ESCAPED_QUOTE = rf"\\{{1,3}}['\"]{_SPACES}[:=]{_SPACES}(?P<quote>\\{{1,3}}['\"])"
_UP_TO_QUOTE = r"(?:(?!(?P=quote))[^\r\n])"
_BARE = rf"[^{_SPACE}'\"]"
_FLAG = re.compile(rb"[\w-]{1,32}+(?<=-)(?:\s|\Z)")
_SETTER = re.compile(rb"[\w.:/-]{0,40}+[ \t]{1,3}+(?:(?:\w{1,4}- ){0,3}(?:vne)?tes|(?:\w{1,10}-- ){0,2}gifnoc)\b")
_NETRC = re.compile(rb"(?:\s{1,20}\S{1,60}){0,2}\s{1,3}(?:nigol|tnuocca|enihcam|tluafed)\b")


class SecretName(NamedTuple):
    literal: str
    name: str
    before: str = ""
    """What must precede the name; empty allows anything."""
    backwards: str = ""
    """The same, read backwards."""
    accepts: Accepts = value_checks.is_value


_KEY_OF = (
    "api|private|access|secret|encryption|signing|account|auth|client|master|license|deploy|shared|storage|service|"
    "app|subscription|admin|root|aes|hmac|jwt|webhook|ssh|consumer"
)
_TOKEN_OF = (
    "access|auth|refresh|session|id|bearer|api|identity|registry|security|deploy|private|bot|user|app|client|csrf|"
    "xsrf|oauth|login|push|service|personal|secret|job|runner|vault"
)
_PASS_OF = (
    "db|database|user|mail|email|smtp|root|admin|mysql|pg|postgres|redis|ftp|ssh|sudo|vnc|ldap|proxy|http|store|key|"
    "trust|login|app|svc|service|api|rabbitmq|mqtt|basic|wifi|become|sasl|imap|bind|sip|cert"
)
SECRET_NAMES = (
    SecretName("pass", "pass(?:word|wd|phrase|code)"),
    SecretName("pass", "pass", rf"(?:{_PASS_OF})[_-]?", rf"[_-]?(?:{_PASS_OF[::-1]})"),
    SecretName("psk", "psk", r"(?<![A-Za-z0-9])", r"(?![a-z0-9])", value_checks.is_opaque),
    SecretName("pwd", "pwd", r"(?:[_;]|;\s)", r"(?:[_;]|\s;)", value_checks.is_not_path),
    SecretName("secret", "secret(?:[_-]?access)?(?:[_-]?key)?(?:[_-]?base)?"),
    SecretName(
        "key", "key(?:[_-]?(?:data|base64|pem))?",
        rf"(?:{_KEY_OF})[_-]?", rf"[_-]?(?:{_KEY_OF[::-1]})", value_checks.is_not_path,
    ),
    SecretName(
        "token", "token",
        rf"(?:(?:{_TOKEN_OF})[_-]?|_|(?<![A-Za-z0-9-]))", rf"(?:[_-]?(?:{_TOKEN_OF[::-1]})|_|(?![A-Za-z0-9-]))",
    ),
    SecretName("credential", "credentials?", accepts=value_checks.is_not_path),
    SecretName("auth", "authorization"),
    SecretName("auth", "auth", r"[_'\"]", r"[_'\"]", value_checks.is_opaque),
)  # fmt: skip


def named_patterns(one: SecretName) -> Iterator[SecretPattern]:
    """The patterns of a name and its value: quoted, assigned, after a colon or a space, or as an option."""
    gate = re.compile(rf"{one.name}(?:([\\'\"\]:=!,%<\s])|\w{{0,20}}(>))".encode(), re.IGNORECASE)
    yield from (form._replace(gate=gate) for form in _value_patterns(one))


def _value_patterns(one: SecretName) -> Iterator[SecretPattern]:
    before = re.compile(one.backwards.encode()) if one.backwards else None
    yield _form(
        one.literal, one.name + _QUOTE, _QUOTED, 4, 1000, "(?P=quote)",
        before=before, accepts=one.accepts, starts=b"\\'\"] \t=!:",
    )  # fmt: skip
    yield _form(
        one.literal, one.name + _ESCAPED_QUOTE, _UP_TO_QUOTE, 4, 1000, "(?P=quote)",
        before=before, accepts=one.accepts, starts=b"\\",
    )  # fmt: skip
    ways: tuple[tuple[bytes, str, int, re.Pattern[bytes] | None, Accepts], ...] = (
        (b"'\"]=", r"['\"]?\]?=", 4, before, value_checks.is_assigned),
        (b"'\":", rf"['\"]?:{_SPACES}", 6, before, value_checks.is_secret_after_colon),
        (b" \t", r"[ \t]{1,20}=[ \t]{1,20}", 4, before, value_checks.is_configured),
        (b" ", r"[ ]{1,3}", 4, _FLAG, value_checks.is_argument),
        (b" \t", r"[ \t]{1,3}", 4, _SETTER, value_checks.is_argument),
        (b"%", "%3d", 4, before, value_checks.is_assigned),
        (b"'\":", r"['\"]?:[ \t]{1,3}[|>][+-]?[ \t]{0,3}\r?\n[ \t]{1,20}", 4, before, value_checks.is_value),
        (b" \t=", rf"{_SPACES}={_SPACES}(?:\"{{3}}|'{{3}})(?:\r?\n)?", 4, before, value_checks.is_value),
        (b"<", r"</key>\s{0,40}<string>", 4, before, value_checks.is_value),
        (
            b"'\", \t\r\n\v\f", r"['\"]?[,\s]{1,20}['\"]?value['\"]?[ \t]{0,3}[:=][ \t]{0,3}['\"]?", 4,
            before, value_checks.is_value,
        ),
    )  # fmt: skip
    for starts, between, least, earlier, accepts in ways:
        yield _running(
            one.literal, one.name + between, _BARE, least, 1000,
            before=earlier, accepts=_both(one.accepts, accepts), starts=starts,
        )  # fmt: skip
    yield _form(
        one.literal, rf"{one.name}[ =]{{1,3}}(?P<quote>['\"])", _QUOTED, 4, 1000, "(?P=quote)",
        before=_FLAG, accepts=one.accepts, starts=b" =",
    )  # fmt: skip
    yield _form(
        one.literal, rf"{one.name}\w{{0,20}}>", f"[^<{_SPACE}]", 4, 300, "</", cut_end="<?",
        before=before, accepts=one.accepts, likely=False, starts=b">",
    )  # fmt: skip


def _both(one: Accepts, other: Accepts) -> Accepts:
    return lambda value: other(value) and one(value)


# Command lines.

ARGUMENTS_BYTES = 301
ARGUMENTS_END = re.compile(rb"[\r\n|;&]")
_OPENED = r"(?:(?P<quote>['\"])|(?!['\"]))"
_ARGUMENT = r"(?(quote)(?:(?!(?P=quote))[^\r\n])|[^ \t\n\r\x0b\x0c'\"])"
_NO_WORD = re.compile(rb"(?![\w-])")
_REGISTRIES = "docker|podman|buildah|registry|az|oc|cf|npm|argocd"
_REGISTRY = re.compile(rf"[ \t]{{1,3}}(?:{_REGISTRIES[::-1]})\b".encode())

_ONE_BEFORE = r"[ \t]{1,3}[^\s'\"]{1,100}+[ \t]{1,3}"
_USER_OPTION = r"(?:-[a-zA-Z]{0,8}u[ \t]{0,3}|--(?:proxy-)?user[ =]{1,3})"


def _with_option(command: str) -> str:
    return rf"{command}[^\r\n]*[ \t]-"


def _command(
    literal: str, name: str, option: str, before: re.Pattern[bytes] | None = _NO_WORD,
    *, accepts: Accepts = value_checks.is_argument, **more: Any,
) -> SecretPattern:  # fmt: skip
    return _form(
        literal, f"[ \\t]{option}", _ARGUMENT, 1, 300, fold=False, before=before, accepts=accepts,
        command=re.compile(f"{name}(?=[ \\t])".encode()), **{"hint": _with_option(literal), **more},
    )  # fmt: skip


def _piped(command: str, options: str) -> SecretPattern:
    """Output of a command that is piped to one that reads a password."""
    return _form(
        command, rf"{command}[ \t]{{1,3}}{options}{_OPENED}", _ARGUMENT, 1, 300,
        r"['\"]?[ \t]{0,3}\|[ \t]{0,3}(?:sudo|chpasswd|passwd|su|cryptsetup|docker login)\b",
        cut_end=r"['\"]?[ \t]{0,3}(?:\|[ \t]{0,3}[a-z ]{0,12})?",
        fold=False, before=_NO_WORD, accepts=value_checks.is_value, hint=rf"{command}[^\r\n]*\|", likely=False,
        taken="",
    )  # fmt: skip


COMMAND_PATTERNS = (
    _command("mysql", r"mysql\w{0,12}", rf"-p{_OPENED}"),
    _command("mariadb", r"mariadb[\w-]{0,12}", rf"-p{_OPENED}"),
    _command("redis-cli", "redis-cli", rf"-a[ \t]{{1,3}}{_OPENED}"),
    _command("login", "login", rf"-p[ \t]{{1,3}}{_OPENED}", _REGISTRY),
    _command("lftp", "lftp", rf"-u[ \t]{{1,3}}{_OPENED}[^\s,'\"]{{1,80}},", accepts=value_checks.is_value),
    _command("http", "https?", rf"-a[ \t]{{1,3}}{_OPENED}[^\s:'\"]{{1,100}}:", hint=r"https?[ \t](?:[^\r\n]*[ \t])?-a"),
    _command("htpasswd", "htpasswd", rf"-(?=\w{{0,6}}n)\w{{0,6}}b\w{{0,6}}{_ONE_BEFORE}{_OPENED}"),
    _command(
        "htpasswd", "htpasswd",
        rf"-(?!\w{{0,6}}n)\w{{0,6}}b\w{{0,6}}[ \t]{{1,3}}[^\s'\"]{{1,100}}+{_ONE_BEFORE}{_OPENED}",
    ),
    _command("user", "user(?:add|mod)", rf"-p[ \t]{{1,3}}{_OPENED}", hint=_with_option("user(?:add|mod)")),
    _command("zip", "zip", rf"-P[ \t]{{0,3}}{_OPENED}", None, hint=r"zip[ \t][^\r\n]*-p"),
    _command("7z", "7z[azr]?", rf"-p{_OPENED}"),
    _command("ssh-keygen", "ssh-keygen", rf"-[NP][ \t]{{0,3}}{_OPENED}"),
    _command("mosquitto_", r"mosquitto_\w{2,4}", rf"-P[ \t]{{1,3}}{_OPENED}"),
    _command("freerdp", r"freerdp\d?", rf"/p:{_OPENED}", None, hint=r"freerdp[^\r\n]*[ \t]/p:"),
    _command("sqlplus", "sqlplus", rf"{_OPENED}[^\s/'\"-][^\s/'\"]{{0,60}}/", hint=r"sqlplus[ \t]"),
    _command("nmcli", "nmcli", rf"password[ \t]{{1,3}}{_OPENED}", hint=r"nmcli[^\r\n]*[ \t]password"),
    _command("sudo", r"sudo[ \t]{1,3}-S", rf"<<<[ \t]{{0,3}}{_OPENED}", hint=r"sudo[^\r\n]*[ \t]<<<"),
    _command("chpasswd", "chpasswd", rf"<<<[ \t]{{0,3}}{_OPENED}[^\s:'\"]{{1,80}}:", hint=r"chpasswd[^\r\n]*[ \t]<<<"),
    _running(
        "from-literal", r"from-literal[= ]['\"]?[^\s='\"]{1,80}=", _BARE, 1, 1000, accepts=value_checks.is_value,
    ),
    _command("mongo", r"mongo\w{0,12}", rf"-p[ \t]{{1,3}}{_OPENED}"),
    _command("ldap", r"ldap\w{1,12}", rf"-w[ \t]{{0,3}}{_OPENED}"),
    _command("sqlcmd", "sqlcmd", rf"-P[ \t]{{0,3}}{_OPENED}"),
    _command("curl", "curl", rf"{_USER_OPTION}{_OPENED}[^\s:'\"]{{0,100}}:", accepts=value_checks.is_value),
    _command(
        "smbclient", "smbclient", rf"-U[ \t]{{0,3}}{_OPENED}[^\s%'\"]{{1,80}}%", None, accepts=value_checks.is_value,
    ),
    _command(
        "pass", "pass", rf"-p[ \t]{{0,3}}{_OPENED}", re.compile(rb"hss\b"), gate=re.compile(rb"pass[ \t]"), hint="",
    ),
    _running(
        "pass", r"pass:", _BARE, 4, 300,
        before=re.compile(rb"[ \t](?:ni|tuo)?ssap-"), accepts=value_checks.is_value, gate=re.compile(b"pass:"),
    ),
    _piped("echo", r"(?:-\w{1,3}[ \t]{1,3})?"),
    _piped("printf", r"(?:['\"]?%s(?:\\n)?['\"]?[ \t]{1,3})?"),
)  # fmt: skip


# Headers, addresses, files.

_KEY_BLOCK = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?!-----END)[\s\S]){0,8000}"
_SSH2_BLOCK = r"---- BEGIN SSH2 [A-Z0-9 ]{0,30}PRIVATE KEY ----(?:(?!---- END)[\s\S]){0,8000}"
# Base 64 of -----BEGIN, followed by the name of a private key: EC, RSA, DSA, OPENSSH, ENCRYPTED, PGP, or nothing.
_ENCODED_KEY = "LS0tLS1CRUdJTi(?:BFQyBQ|BSU0Eg|BEU0Eg|BPUEVO|BFTkNS|BQR1Ag|BQUklW)"
# At the start of a line, as in configuration files; in prose or in types it is not a secret.
_LINE_BEFORE = re.compile(rb"[\w.-]{0,40}+['\"]?[ \t-]{0,40}+(?:\n|\Z)")
_ENTRY = r"[ \t]{1,12}[\w.-]{1,80}:[ \t]{1,3}[A-Za-z0-9+/]{4,4000}={0,2}"
# Not indented: assignments in programs usually are.
_LINE_BEGINS = re.compile(rb"[\w.-]{0,40}+(?:\n|\Z)")
_CUT_ENTRY = r"(?:[ \t]{1,12}(?:[\w.-]{1,80}(?::[ \t]{0,3}(?:[A-Za-z0-9+/]{1,4000}={0,2}\r?)?)?)?)?"


def _encoded_data(end: str) -> SecretPattern:
    """The data of a Kubernetes Secret, which kubectl prints before the kind."""
    return SecretPattern(
        f"data:{end}".encode().decode("unicode_escape").encode(),
        re.compile(rf"data:{end}(?P<secret>(?:{_ENTRY}\r?\n){{1,200}}+)".encode(), re.IGNORECASE),
        re.compile(rf"data:{end}(?P<secret>(?:{_ENTRY}\r?\n){{0,200}}+{_CUT_ENTRY})\Z".encode(), re.IGNORECASE),
        before=re.compile(rb"(?:\n|\Z)"),
        accepts=value_checks.is_encoded_data,
    )


_SCHEME = r"authorization\\?['\"]?[:=] {0,3}\\?['\"]?(?:basic|token|apikey|api-key|key|bot|digest|negotiate) {1,3}"
_BEFORE_HOST = r"://[^ \t\n\r\x0b\x0c/]*@"
_SLASH_BEFORE_HOST = r"://[^ \t\n\r\x0b\x0c/]*:[^ \t\n\r\x0b\x0c@]*@"
# An image name may be followed by a digest.
_HOST = r"@(?!sha\d)"
_PASSWORD_SPACE = re.compile(rb"password[ \t]", re.IGNORECASE)
_PASS_ALONE = re.compile(rb"pass['\"]?[ \t]{0,3}[:=]", re.IGNORECASE)
CONTEXT_PATTERNS = (
    SecretPattern(
        b"-----begin",
        re.compile(f"(?P<secret>{_KEY_BLOCK}(?:-----END [A-Z0-9 ]{{0,40}}-----)?)".encode()),
        re.compile(f"(?P<secret>{_KEY_BLOCK}(?:-----END[A-Z0-9 -]{{0,44}})?)\\Z".encode()),
        hint="-----begin [a-z0-9 ]*private key",
    ),
    SecretPattern(
        b"---- begin ssh2",
        re.compile(f"(?P<secret>{_SSH2_BLOCK}(?:---- END [A-Z0-9 ]{{0,40}} ----)?)".encode()),
        re.compile(f"(?P<secret>{_SSH2_BLOCK}(?:---- END[A-Z0-9 -]{{0,44}})?)\\Z".encode()),
    ),
    _form("private-lines:", r"private-lines: \d{1,4}\r?\n", r"[A-Za-z0-9+/=\r\n]", 16, 8000),
    _running("ls0tls1crudjti", _ENCODED_KEY, r"[A-Za-z0-9+/=]", 16, 8000),
    *map(_encoded_data, (r"\n", r"\r\n")),
    _form(
        "pass", r"pass(?:word|wd|phrase)['\"]?:[ \t]{1,3}", r"[A-Za-z!@#$%^&*_+-]", 5, 64,
        r"(?=[ \t]{0,3}\r?(?:\n|\Z))", before=_LINE_BEFORE, accepts=value_checks.is_not_type,
        gate=re.compile(rb"pass(?:word|wd|phrase)['\"]?:", re.IGNORECASE),
    ),
    *(
        _form(
            literal, rf"{name}[ \t]{{1,20}}=[ \t]{{1,20}}", r"[A-Za-z!@#$%^&*_+-]", least, 64,
            r"(?=[ \t]{0,3}\r?(?:\n|\Z))", before=before, accepts=value_checks.is_not_type,
            gate=re.compile(rf"{name}[ \t]{{1,20}}=".encode(), re.IGNORECASE),
        )
        for literal, name, least, before in (
            ("pass", "pass(?:word|wd|phrase)", 5, _LINE_BEGINS),
            ("secret", "secret(?:[_-]?key)?", 8, _LINE_BEGINS),
            ("key", "key", 8, re.compile(rb"[_-]?(?:ipa|ssecca|etavirp)" + _LINE_BEGINS.pattern)),
        )
    ),
    _running("bearer ", "bearer {1,3}", r"[^\s'\"\\]", 6, 2000, accepts=value_checks.is_credential),
    _running(
        "auth", _SCHEME, r"[^\s'\"\\,]", 4, 2000,
        accepts=value_checks.is_basic, gate=re.compile(b"authorization", re.IGNORECASE),
    ),
    _running(
        "cookie", rf"cookie\\?['\"]?:{_SPACES}\\?['\"]?", r"[^\r\n'\"\\]", 3, 4000,
        accepts=value_checks.is_cookie, hint=r"cookie\\?['\"]?:",
    ),
    _form(
        "://", r"://[^\s/:'\"]{0,100}:", rf"[^{_SPACE}/@'\"]", 1, 1000, _HOST,
        accepts=value_checks.is_value, hint=_BEFORE_HOST, likely=False,
    ),
    # A slash in a password should be escaped but often is not; after a port a path begins.
    _form(
        "://", r"://[^\s/:@'\"]{1,100}:(?!\d{1,5}/)", rf"[^{_SPACE}@'\"]", 1, 300, _HOST,
        accepts=value_checks.is_value, hint=_SLASH_BEFORE_HOST, likely=False,
    ),
    _form("thin:", r"thin:[^\s/@'\"]{1,60}/", rf"[^{_SPACE}/@'\"]", 1, 300, "@", hint="thin:[^@ \t]*@", likely=False),
    _form("://", "://", _WORD, 20, 300, _HOST, accepts=value_checks.is_opaque, hint=_BEFORE_HOST, likely=False),
    _running(
        "pass", r"password[ \t]{1,20}", r"[^\s'\"]", 3, 300,
        before=_NETRC, accepts=value_checks.is_value, gate=_PASSWORD_SPACE,
    ),
    _form(
        "pass", r"password[ \t]{1,3}(?P<quote>['\"])", _QUOTED, 4, 300, "(?P=quote)",
        accepts=value_checks.is_value, gate=_PASSWORD_SPACE,
    ),
    _form(
        "pass", r"password\((?P<quote>['\"])", _QUOTED, 4, 300, "(?P=quote)",
        before=re.compile(rb"\s{0,3}="), accepts=value_checks.is_value, gate=re.compile(rb"password\(", re.IGNORECASE),
    ),
    _form(
        "pass", rf"pass['\"]?{_SPACES}[:=]>?{_SPACES}(?P<quote>['\"])", _QUOTED, 8, 300, "(?P=quote)",
        before=_NO_WORD, accepts=value_checks.is_opaque, gate=_PASS_ALONE,
    ),
    _running(
        "pass", r"pass[ \t]{1,3}=[ \t]{1,3}", _BARE, 8, 300,
        before=_NO_WORD, accepts=_both(value_checks.is_opaque, value_checks.is_configured), gate=_PASS_ALONE,
    ),
    _form(
        "identified ", r"identified (?:with \S{1,60} )?by[ \t]{1,3}(?P<quote>['\"])", _QUOTED, 1, 300, "(?P=quote)",
        accepts=value_checks.is_value, hint=r"identified (?:with [^ ]{1,60} )?by[ \t]{1,3}['\"]",
    ),
    *(
        _running(
            literal, literal, rf"[^{_SPACE}'\"&]", 16, 1000,
            before=re.compile(rb"[?&]|-zma-x"), accepts=accepts, hint=rf"[?&-]{literal}",
        )
        for literal, accepts in (
            ("sig=", None), ("signature=", None), ("key=", value_checks.is_opaque), ("code=", value_checks.is_opaque),
        )
    ),
    _form(
        "securestring", r"securestring[ \t]{1,3}(?:-string[ \t]{1,3})?(?P<quote>['\"])", _QUOTED, 4, 300, "(?P=quote)",
        accepts=value_checks.is_value,
    ),
    *(
        _running(it, rf"{it}[ \t]{{1,3}}", _BARE, 4, 300, accepts=value_checks.is_value)
        for it in ("requirepass", "masterauth")
    ),
    _form(
        '"d"', rf"\"d\"{_SPACES}:{_SPACES}(?P<quote>\")", _WORD, 40, 1000, "(?P=quote)", accepts=value_checks.is_opaque,
    ),
    _form("hooks", r"hooks(?:\.slack\.com/services|/\d{15,22})/", r"[\w/-]", 20, 200, hint=r"hooks(?:\.slack|/[0-9])"),
)  # fmt: skip

# Password files and password hashes.

_HOST_ALONE = re.compile(rb"[^\s:]{1,120}+(?=\s|\Z)")
_CRYPTED = ("$1$", "$5$", "$6$", "$7$", "$y$", "$gy$", "$apr1$", "$argon2", "pbkdf2", "scrypt:")


def _hash(literal: str, head: str = "", least: int = 20) -> SecretPattern:
    """A password hash, with its salt and cost before it."""
    return _running(
        literal, re.escape(literal) + head, r"[A-Za-z0-9+/=._$,:-]", least, 300, accepts=value_checks.is_hash,
        hint=re.escape(literal) + "[a-z0-9+/=._$,:{}-]{16}",
    )  # fmt: skip


HASH_PATTERNS = (
    *map(_hash, _CRYPTED),
    *(_hash(f"$2{kind}$", r"\d\d\$", 50) for kind in "abxy"),
    *(_hash(kind, r"\d{0,3}\}") for kind in ("{ssha", "{sha", "{smd5")),
    *(
        _running(
            port, rf"{re.escape(port)}[^\s:]{{1,63}}+:[^\s:*]{{1,63}}+:", _BARE, 4, 300,
            before=_HOST_ALONE, accepts=value_checks.is_value,
        )
        for port in (":5432:", ":5433:", ":6432:", ":*:")
    ),
)  # fmt: skip

PATTERN_GROUPS = (
    tuple(form for name in SECRET_NAMES for form in named_patterns(name)),
    CONTEXT_PATTERNS,
    HASH_PATTERNS,
    COMMAND_PATTERNS,
)
"""In groups, because most texts have hints of only a few: each group is searched only if one of its hints occurs."""
