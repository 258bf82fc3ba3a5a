"""Files that are odd or broken: told of in a line with a next step, and never in the way of the others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from migrate_responses import limits, places
from migrate_responses.config import Settings
from migrate_responses.results import Results
from migrate_responses.run import migrate
from migrate_responses.source import decode
from tests.one_call import AFTER, BEFORE, run

BOM = b"\xef\xbb\xbf"


def beside_a_good_one(data: bytes) -> Results:
    """What comes of a file; another one beside it is always migrated."""
    results = migrate({"odd.py": data, "good.py": BEFORE.encode()}, Settings())
    (good,) = (file for file in results.files if file.path == "good.py")
    assert good.after == AFTER.encode()
    return results


def migrated(data: bytes) -> bytes:
    """``data`` after a run, in which nothing went wrong; a second one changes nothing."""
    results = beside_a_good_one(data)
    assert results.errors == ()
    (file,) = (file for file in results.files if file.path == "odd.py")
    assert not migrate({"odd.py": file.after}, Settings()).changed
    return file.after


def refusal(data: bytes) -> tuple[str, int, str]:
    """The code, the line and the reason for which a file was left as it is."""
    results = beside_a_good_one(data)
    (error,) = results.errors
    assert error.path == "odd.py"
    assert error.next_step
    assert not any(file.changed for file in results.files if file.path == "odd.py")
    return error.code, error.line, error.message


# -- encodings

DECODED = {
    "latin-1": "# -*- coding: latin-1 -*-\nx = '\xe9'\n",
    "cp1252": "# coding: cp1252\nx = '\u201e\u20ac'\n",
    "iso-8859-15": "# vim: set fileencoding=iso-8859-15 :\nx = '\u20ac'\n",
    "gbk": "# coding: gbk\nx = '\u4f60\u597d'  # \u5f35\n",
    "gb18030": "# coding=gb18030\nx = '\u4f60\U0001f600'\n",
    "shift_jis": "# coding: shift_jis\nx = '\u8868\u793a'\n",  # its second byte is a backslash
    "euc-jp": "# coding: euc-jp\nx = '\u8868'\n",
    "iso2022_jp": "# coding: iso2022_jp\nx = '\u65e5'\n",
    "koi8-r": "# coding: koi8-r\nx = '\u043f'\n",
    "ascii": "# coding: ascii\n",
    "utf-8": "# coding: utf8\nx = '\u2028\x85\x1c\x0c\U0001f600'\n",
}


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
@pytest.mark.parametrize("encoding", DECODED)
def test_encodings_and_line_ends_stay(encoding: str, ends: str) -> None:
    head = DECODED[encoding]
    before, after = ((head + text).replace("\n", ends).encode(encoding) for text in (BEFORE, AFTER))
    assert migrated(before) == after


COOKIES = {
    "in line 2": (b"#!/usr/bin/env python\n# coding: latin-1\n", True),
    "in line 2, after other bytes than UTF-8": (b"# caf\xe9\n# coding: latin-1\n", True),
    "after such bytes in line 1": (b"# \xe9 coding: latin-1\n", True),
    "after a form feed": (b"\f# coding: latin-1\n", True),
    "the second of one line": (b"# coding coding: latin-1\n", True),
    "the first of two": (b"# coding: latin-1\n# coding: utf-8\n", True),
    "in line 3": (b"\n\n# coding: latin-1\n", False),
    "after code": (b"x = 1\n# coding: latin-1\n", False),
    "after a continuation": (b"\\\n# coding: latin-1\n", False),
    "in a docstring": (b'"""# coding: latin-1"""\n', False),
    "in a docstring's second line": (b'"""\n# coding: latin-1"""\n', False),
    "in another case": (b"# CODING: latin-1\n", False),
    "with a blank before the sign": (b"# coding = latin-1\n", False),
    "in line 3 of carriage returns": (b"#!\r\r# coding: latin-1\r", False),
    "in the string of a line 2 that ends so": (b"#!\rx = '# coding: latin-1'\r", False),
}


@pytest.mark.parametrize("cookie", COOKIES)
def test_a_coding_cookie_counts_where_python_says_so(cookie: str) -> None:
    head, counts = COOKIES[cookie]
    data = head + b"x = '\xe9'\n" + BEFORE.encode()
    try:
        compile(data, "x", "exec")
        taken = True
    except SyntaxError:
        taken = False
    assert taken is counts
    if counts:
        assert migrated(data) == head + b"x = '\xe9'\n" + AFTER.encode()
    else:
        assert refusal(data)[0] == "MR902"
        good = head + "x = '\xe9'\n".encode() + BEFORE.encode()
        assert migrated(good) == head + "x = '\xe9'\n".encode() + AFTER.encode()


UNDECODED = {
    "utf-7": (b"# coding: utf-7\n", "no superset of ASCII"),
    "utf-16 by cookie": (b"# coding: utf-16\n", "no superset of ASCII"),
    "escapes": (b"# coding: unicode_escape\n", "no superset of ASCII"),
    "hz": (b"# coding: hz\n", "no superset of ASCII"),
    "ebcdic": (b"# coding: cp037\n", "no superset of ASCII"),
    "unknown": (b"# coding: klingon\n", "names klingon"),
    "no encoding of text": (b"# coding: rot13\n", "names rot13"),
    "no encoding of text, by the name of one": (b"# coding: hex\n", "names hex"),
    "null": (b"# coding: la\0tin\n", "names la"),
    "against the byte order mark": (
        BOM + b"# coding: latin-1\n",
        "mark says UTF-8, the coding comment latin-1",
    ),
    "bytes that are not UTF-8": (b"\nx = '\xff'\n", "byte 0xff in line 2 is not UTF-8"),
    "half of a surrogate pair": (b"x = '\xed\xa0\x80'\n", "byte 0xed in line 1"),
    "an overlong form": (b"x = '\xc0\x80'\n", "byte 0xc0 in line 1"),
    "bytes that are not of the cookie": (b"# coding: ascii\nx = '\xe9'\n", "the coding comment says ascii"),
    "other bytes on the way back": (b"# coding: iso2022_jp\nx = '\x1b(B'\n", "the same bytes"),
}


@pytest.mark.parametrize("case", UNDECODED)
def test_what_cannot_be_decoded_is_told_of(case: str) -> None:
    head, reason = UNDECODED[case]
    code, _, message = refusal(head + BEFORE.encode())
    assert code == "MR902"
    assert reason in message


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_wide_characters_are_told_of(tmp_path: Path, encoding: str) -> None:
    mark = "" if encoding in ("utf-16", "utf-32") else "\ufeff"
    data = (mark + BEFORE).encode(encoding)
    assert refusal(data)[0] == "MR902"
    (tmp_path / "a.py").write_bytes(data)
    assert "which Python does not read" in run("check", cwd=tmp_path, status=2).stderr


def test_a_byte_order_mark_stays_also_with_a_cookie() -> None:
    for cookie in ("", "# coding: utf-8\n", "# coding: UTF8\n", "# coding: utf-8-sig\n"):
        assert migrated(BOM + (cookie + BEFORE).encode()) == BOM + (cookie + AFTER).encode()
    assert migrated(b"# coding: utf-8-sig\n" + BEFORE.encode()).startswith(b"# coding")


def test_what_the_encoding_lacks_is_escaped_in_comments() -> None:
    client = "# coding: latin-1\nfrom openai import OpenAI\nfrom other import STOP\nclient = OpenAI()\n"
    call = BEFORE.partition("client = OpenAI()\n")[2].replace('"Hi"}]', '"Hi"}], stop=STOP')
    sources = {"a.py": (client + call).encode("latin-1"), "other.py": "STOP = ['\u4f60']\n".encode()}
    results = migrate(sources, Settings())
    assert results.errors == ()
    (file,) = results.changed
    assert b"# TODO(migrate-responses): MR112" in file.after
    assert decode(file.after).encoding == "latin-1"


# -- lines and layout

KEPT = {
    "mixed line ends": lambda text: text.replace("\n", "\r\n", 2).replace("print", "\rprint"),
    "form feeds": lambda text: f"\f\nimport os\n\f\ndef f():\n\f    pass\n\f\n{text}\f\n# end\f\n",
    "tabs": lambda text: f"if 1:\n\tif 2:\n\t\tx = 1\n{text}",
    "tabs and blanks": lambda text: f"if 1:\n  \tif 2:\n  \t\tx = 1\n{text}",
    "no newline at the end": lambda text: text.removesuffix("\n"),
    "a comment at the end": lambda text: f"{text}# end",
    "blanks at the end": lambda text: f"{text}  \n \t ",
    "many newlines at the end": lambda text: f"{text}\n\n\n",
    "continuation": lambda text: text.replace("answer = ", "answer = \\\n    ").replace(
        "print(", "print( \\\n"
    ),
    "semicolons": lambda text: text.replace("()\nanswer", "(); answer"),
    "marks that reorder text": lambda text: f'x = "\u202e\u2066\u200b"  # \u202e\u200d\ufeff\n{text}',
    "terminal escapes": lambda text: f'x = "\x1b]0;x\x07"  # \x1b[2J\n{text}',
    "other line separators": lambda text: f'x = "\u2028\u2029\x85\x1c\x1d\x1e\x0b\x0c"\n{text}',
    "a very long string": lambda text: f'x = "{"a" * 500_000}"\n{text}',
    "a very long comment": lambda text: f"# {'a' * 500_000}\n{text}",
    "a very long line of code": lambda text: f"x = [{'1, ' * 2000}]\n{text}",
    "brackets in strings": lambda text: f"x = '{'(' * 500}'\n{text}",
    "deep brackets": lambda text: f"x = {'[' * 60}{']' * 60}\n{text}",
    "half of a surrogate pair": lambda text: (
        f'x = "\\ud800"\nif x == "\\udfff": pass\nd = {{"\\ud800": x}}\n{text}'
    ),
    "an annotation of half a pair": lambda text: (
        f'def f(x: "\\ud800", y: "\\0") -> "\\udfff": return x\n{text}'
    ),
    "a text in a text that is none": lambda text: (
        f"""def f(x: '"\\\\x"'): return x\ny = ['"\\\\x"', "b'\\x80'"]\n{text}"""
    ),
    "names that are not ASCII": lambda text: f"caf\xe9 = \u53d8\u91cf = \U0001d4ea = 1\n{text}",
}


@pytest.mark.parametrize("case", KEPT)
def test_untouched_bytes_stay(case: str) -> None:
    change = KEPT[case]
    after = migrated(change(BEFORE).encode())
    wanted = change(AFTER)
    assert after.decode() == wanted


def test_half_of_a_pair_is_sent_on() -> None:
    after = migrated(BEFORE.replace("Hi", "\\ud83d \\ud800").encode())
    assert after.decode() == AFTER.replace("Hi", "\\ud83d \\ud800")


NOTHING = [
    b"",
    BOM,
    b"\n",
    b"\r",
    b"\f",
    b"  \t",
    b"# openai chat.completions\n",
    b"#",
    b"\r\n\r\n",
    b'"""openai"""',
]


@pytest.mark.parametrize("data", NOTHING)
def test_files_with_nothing_in_them(data: bytes) -> None:
    assert migrated(data) == data


# -- syntax

NEW = {
    "match": "match x:\n    case {'a': [1, *rest], **more} if rest: pass\n    case A(b=1) | 1 as c: pass\n",
    "groups of exceptions": "try: pass\nexcept* (A, B) as group: pass\n",
    "several in with": "with (open('a') as a, open('b') as b,): pass\n",
    "stars in subscripts": "x = a[*b]\ndef f(*args: *Ts): pass\n",
    "type statements": "type X[T: int] = list[T]\n",
    "generics": "def f[T: (int, str), *Ts, **P](x: T) -> T: return x\nclass A[T]: pass\n",
    "defaults of types": "class A[T = int, *Ts = *tuple[int, ...], **P = [int]]: pass\n",
    "nested f-strings": 'x = f"{"a" + f"{"b"}"}"\ny = f"{\n  1  # c\n}"\nz = f"{x!r:{"^"}{10}}{"\\n"}"\n',
    "t-strings": 'x = t"a {client} {1!r:>{2}}"\n',
    "exceptions without parentheses": "try: pass\nexcept A, B: pass\n",
    "groups without parentheses": "try: pass\nexcept* A, B: pass\n",
    "await outside of functions": "await x\n",
}


@pytest.mark.parametrize("case", NEW)
def test_new_syntax_is_kept_whatever_python_runs_this(case: str) -> None:
    assert migrated((NEW[case] + BEFORE).encode()) == (NEW[case] + AFTER).encode()


OLD = {
    "print": 'print "x"\n',
    "exec": 'exec "x" in d\n',
    "backticks": "x = `1`\n",
    "octal": "x = 0777\n",
    "raise": 'raise ValueError, "x"\n',
    "strings": 'x = ur"x"\n',
    "unequal": "x = 1 <> 2\n",
    "long": "x = 1L\n",
    "tuples as parameters": "def f((a, b)): pass\n",
    "tabs against blanks": "if 1:\n\tx = 1\n        y = 2\n",
    "a zero-width name": "x\u200b = 1\n",
    "a byte order mark amid the text": "x = 1\n\ufeffy = 2\n",
    "a control character": "\x07\n",
    "an open bracket": "x = (\n",
    "an open string": 'x = """\n',
    "a null byte in a string": 'x = "\0"\n',
    "a null byte in a comment": "# \0\n",
    "too many levels": "".join(f"{' ' * level}if 1:\n" for level in range(120)) + " " * 120 + "pass\n",
}


@pytest.mark.parametrize("case", OLD)
def test_what_is_not_python_3_is_told_of_with_its_line(case: str) -> None:
    code, line, message = refusal((OLD[case] + BEFORE).encode())
    assert (code, message.startswith("not valid Python 3")) == ("MR901", True)
    assert line >= 1


def test_two_byte_order_marks_are_one_too_many() -> None:
    assert refusal(BOM + BOM + BEFORE.encode()) == (
        "MR901",
        1,
        "not valid Python 3: there are two byte order marks",
    )


DEEP = {
    "parentheses": "x = " + "(" * 250 + "1" + ")" * 250,
    "brackets beyond all bounds": "x = " + "[" * 100_000,
    "brackets of many lines": "x = " + "[\n" * 5_000 + "]\n" * 5_000,
    "signs": "x = " + "-" * 50_000 + "1",
    "attributes": "x = a" + ".b" * 20_000,
    "calls": "x = a" + "()" * 20_000,
    "powers": "x = " + "2**" * 20_000 + "1",
    "functions": "x = " + "lambda: " * 20_000 + "1",
    "conditions": "x = " + "1 if 1 else " * 20_000 + "1",
    "alternatives": "x = a" + " or a" * 20_000,
    "methods": "x = a" + ".b(1)" * 2_000,
    "methods of many lines": "x = (\na\n" + ".b(1)\n" * 2_000 + ")",
    "subscripts": "x = a" + "[0]" * 3_000,
    "a sum of many lines": "x = (\n1\n" + "+ 1\n" * 20_000 + ")",
    "a sum of continued lines": "x = 1" + " \\\n+ 1" * 20_000,
}


@pytest.mark.parametrize("case", DEEP)
def test_what_is_nested_beyond_reason_is_told_of_at_once(case: str) -> None:
    assert refusal(f"{DEEP[case]}\n{BEFORE}".encode())[0] == "MR904"


LEVELS = limits.deepest() - 100  # Python 3.12.1 has few
LONG = {
    "a sum": "x = a" + " + a" * min(1_500, LEVELS),
    "alternatives": "x = a" + " or a" * min(3_000, LEVELS),
    "types that are asked for": "x = isinstance(a, int)" + " or isinstance(a, str)" * min(1_500, LEVELS),
    "attributes": "x = a" + ".b" * min(1_500, LEVELS),
    "calls": "x = a" + "()" * min(1_000, LEVELS),
    "a text": "x = 'a'" + " 'a'" * min(2_500, LEVELS),
    "a list": "x = [" + "1, " * 5_000 + "]",
}


@pytest.mark.parametrize("case", LONG)
def test_long_chains_are_followed(case: str) -> None:
    before = f"a = 1\n{LONG[case]}\n{BEFORE}"
    results = migrate({"main.py": before.encode()}, Settings())
    assert not results.errors
    assert [file.after.decode() for file in results.changed] == [f"a = 1\n{LONG[case]}\n{AFTER}"]


def test_strings_side_by_side_are_told_of() -> None:
    strings = '"a"\n' * 4_000
    code, line, message = refusal(f"x = (\n{strings})\n{BEFORE}".encode())
    assert (code, line) == ("MR904", 2)
    assert "strings" in message


def test_too_large_a_file_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LARGEST_CODE", 10_000)
    assert refusal(f"# {'a' * 10_000}\n{BEFORE}".encode())[0] == "MR914"


def test_a_hundred_megabytes_do_not_keep_the_others_waiting(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text(BEFORE, encoding="utf-8")
    line = b"x = [1, 2, 3]  # " + b"a" * 80 + b"\n"
    (tmp_path / "big.py").write_bytes(BEFORE.encode() + line * (100_000_000 // len(line)))
    done = run("apply", cwd=tmp_path, status=2)
    assert "big.py: MR914" in done.stderr
    assert (tmp_path / "good.py").read_text(encoding="utf-8") == AFTER


def test_a_fault_of_the_tool_is_told_of_and_stops_no_other_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Sequence[str]:
        raise RuntimeError("no\x1b[31m luck with sk-proj-Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z")

    monkeypatch.setattr("migrate_responses.parsing.syntax_error", fail)
    results = migrate({"odd.py": b"import openai\nprint 'x'\n", "good.py": BEFORE.encode()}, Settings())
    assert [error.code for error in results.errors] == ["MR910"]
    assert "Ab3dEf" not in results.errors[0].message
    assert [file.path for file in results.changed] == ["good.py"]
    assert places.breakdown({"a": b""}, RuntimeError("x" * 10_000))[0].message.count("x") < 300
