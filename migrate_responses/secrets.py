"""Keys in source text: shown nowhere but in the code itself and its diff."""

from __future__ import annotations

import re

MASK = "***"

_VENDORS = (  # what a key begins with tells whose it is, and may be shown
    "sk-(?:proj-|svcacct-|admin-|ant-|or-v1-|lf-)?",
    *("gsk_", "hf_", "gh[opsu]_", "github_pat_", "glpat-", "pk-lf-", "xox[a-z]-", "AIza", "AKIA"),
    *("tvly-", "r8_", "nvapi-", "xai-", "pplx-"),
)
_BY_VENDOR = re.compile(rf"(?<![A-Za-z0-9_-])(?P<kept>{'|'.join(_VENDORS)})[A-Za-z0-9_-]{{12,}}")
_BY_SCHEME = re.compile(r"(?i)(?P<kept>\b(?:bearer|basic)[ \t]+)[A-Za-z0-9._~+/=-]{12,}")
_JWT = re.compile(r"(?<![A-Za-z0-9_-])(?P<kept>eyJ)[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?")
# `api_key="..."`, `"api-key": "..."`, `API_KEY: str = "..."`, `os.environ["API_KEY"] = "..."`,
# `os.getenv("API_KEY", "...")`, `os.getenv("API_KEY") or "..."`
_BY_NAME = re.compile(
    r"""(?P<kept>(?i:key|secret|token|password|passwd|credential)s?
        \\?["']?[\])]{0,2}\s*                     # the end of the name, as a string or a subscript
        (?::\s*["'\w.|\[\] ]{1,40}?\s*(?==))?    # its annotation
        (?:[=:,]|\bor\b)\s*\(?\s*
        [bBfFrRuU]{0,2}\\?["']{1,3})            # the string begins
        (?=[A-Za-z_+/=.~-]*\d)                 # keys have digits in them; placeholders and paths seldom do
        [A-Za-z0-9_+/=.~-]{16,}""",
    re.VERBOSE,
)
_IN_ADDRESS = re.compile(r"""(?P<kept>\w://[^\s/:@"']*:)[^\s/@"']+(?=@)""")  # https://user:password@host
_ALL = (_BY_VENDOR, _BY_SCHEME, _JWT, _BY_NAME, _IN_ADDRESS)

# What OpenAI and Azure hand out, as opposed to what is written where any text will do.
_OPENAI = re.compile(r"sk-[A-Za-z0-9_-]{20,}|[0-9a-fA-F]{32}|[A-Za-z0-9]{84}")
_FEWEST = 10  # different characters; "sk-xxxx..." and "sk-000..." are placeholders


def masked(text: str) -> str:
    """``text`` with ``***`` in place of everything that looks like a key. Lines stay lines."""
    for pattern in _ALL:
        text = pattern.sub(rf"\g<kept>{MASK}", text)
    return text


def is_openai_key(text: str) -> bool:
    """Whether ``text`` as a whole looks like a key of OpenAI or Azure that works, or once did."""
    return (
        _OPENAI.fullmatch(text) is not None
        and any(character.isdigit() for character in text)
        and len(set(text)) >= _FEWEST
    )
