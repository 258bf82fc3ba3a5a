"""The text of a pull request, and the work orders for what is held back."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from migrate_responses.config import Options
from migrate_responses.results import Diagnostic, Level, SiteResult, Verdict
from migrate_responses.session import Outcome
from migrate_responses.show.document import document
from migrate_responses.show.formats import Report
from migrate_responses.show.markdown import LIMIT, as_markdown
from migrate_responses.show.markup import code, fenced, link, plain, prose
from migrate_responses.show.prompt import as_prompt
from migrate_responses.show.since import compare
from tests.reports import EVERYTHING, HEAD, READY, call, report


def section(text: str, title: str) -> str:
    """What stands under a heading, or in what is folded under it."""
    head = rf"(?:### |<summary>){re.escape(title)}(?:</summary>)?\n\n"
    found = re.search(rf"{head}(.*?)(?=\n\n###|\n\n<details>|\n\n</details>|\n\n---|\Z)", text, re.DOTALL)
    assert found is not None, text
    return found[1]


# -- the pull request


def test_it_counts() -> None:
    text = as_markdown(report(EVERYTHING))
    rows = dict(re.findall(r"^\| ([^|]+) \| ([\d,]+) \|$", text, re.MULTILINE))
    assert rows == {
        "ready": "2",
        "held back": "2",
        "of these with an unsafe fix (`--unsafe-fixes`)": "1",
        "left alone: not a plain OpenAI client": "1",
        "skipped, as a comment or an option asks": "1",
        "on Responses already": "1",
    }
    assert (
        as_markdown(report({"a.py": "x = 1\n"})).split("\n\n")[1]
        == "No Chat Completions calls in 1 Python file."
    )


def test_what_stays_is_told_with_its_next_step() -> None:
    text = section(as_markdown(report(EVERYTHING)), "What stays, and why")
    assert (
        "- [`app/stopped.py:7:14`](app/stopped.py#L7) `client.chat.completions.create` in `stopped`: `stop`"
        in text
    )
    assert re.search(r"trim the text yourself", text)
    assert "docs/rules.md#mr112) stop** · 1 call" in text
    assert text.index("MR110") < text.index("MR112")


def test_what_changes_is_told_by_rule() -> None:
    text = section(as_markdown(report({"a.py": READY, "b.py": EVERYTHING["app/stopped.py"]})), "What changes")
    rows = re.findall(r"^\| \[(MR\d+)\]\([^)]+\) \| .* \| (\d+) \|$", text, re.MULTILINE)
    assert ("MR001", "2") in rows  # not those of what stays
    assert rows == sorted(rows, key=lambda row: (-int(row[1]), row[0]))


def test_one_reason_for_many_calls_is_told_once() -> None:
    texts = {f"f{number}.py": HEAD + call("one", '        stop="x",\n') for number in range(3)}
    text = section(as_markdown(report(texts)), "What stays, and why")
    assert text.count("trim the text yourself") == 1
    assert re.findall(r"^  - \[`f(\d)\.py:7:14`\]", text, re.MULTILINE) == ["0", "1", "2"]


def test_many_places_in_one_file_take_one_line() -> None:
    text = HEAD + "".join(call(f"f{number}", '        stop="x",\n') for number in range(3))
    lines = section(as_markdown(report({"a.py": text})), "What stays, and why").splitlines()
    assert lines[-1] == "  - [`a.py`](a.py) at [`7:14`](a.py#L7), [`16:14`](a.py#L16), [`25:14`](a.py#L25)"


def test_files_errors_and_notes() -> None:
    stream = HEAD + (
        "\n\ndef tell():\n"
        "    for chunk in client.chat.completions.create(model='m', messages=[], stream=True):\n"
        "        print(chunk.choices[0].delta.content or '', end='')\n"
    )
    text = as_markdown(report({**EVERYTHING, "stream.py": stream}))
    assert "[`broken.py:3:12`](broken.py#L3): [MR901]" in section(text, "What could not be processed")
    assert re.search(
        r"- \[`app/ready\.py`\]\(app/ready\.py\) \+\d+ \u2212\d+\n",
        section(text, "The 4 files that would change"),
    )
    assert "MR011" in section(text, "What is left alone")
    assert "MR409" in section(text, "Worth knowing")


def test_links_lead_to_the_repository() -> None:
    found = report({"a b.py": READY.replace("temperature=0", "stop='x'")}, {"prefix": "sub"})
    assert "(sub/a%20b.py#L" in as_markdown(found)
    base = "https://github.com/o/r/blob/abc/"
    assert f"({base}sub/a%20b.py#L" in as_markdown(replace(found, links=base))


def test_it_tells_what_changed_since() -> None:
    before = document(report({"a.py": HEAD + call("one") + call("two"), "m.py": HEAD + call("moved")}))
    after = report({"a.py": HEAD + call("one", "        stop='x',\n"), "m.py": EVERYTHING["moved.py"]})
    text = as_markdown(replace(after, since=compare("main", before, document(after))))
    assert section(text, "Since `main`").splitlines() == [
        "- **1 call migrated**",
        "- **1 call newly held back**",
        "- **1 call gone**",
    ]
    assert "MR001" in section(text, "What the migration took")
    assert section(text, "Since then newly held back") == (
        "- [`a.py:7`](a.py#L7) `client.chat.completions.create` in `one` (MR112)"
    )
    assert section(text, "Since then gone") == "- `a.py:15` `client.chat.completions.create` in `two`"


def test_name_and_date() -> None:
    text = as_markdown(report({}, {"name": "a_b", "date": "2026-02-03"}))
    assert "Made for a\\_b on 2026-02-03 by [migrate-responses](" in text


@pytest.mark.parametrize("count", [500, 3000])
@pytest.mark.parametrize("verdict", [Verdict.MANUAL, Verdict.LEFT])
def test_it_fits_into_a_pull_request(count: int, verdict: Verdict) -> None:
    sites = tuple(
        SiteResult(
            f"packages/some/folder/é{number}.py",
            number,
            5,
            "self.client.chat.completions.create",
            verdict,
            number,
            (Diagnostic("MR020", "a.py", 1, 1, Level.MANUAL, f"`host{number}` is another host", "do"),),
            "Klass.method",
        )
        for number in range(1, count + 1)
    )
    text = as_markdown(Report(Outcome(sites, (), (), (), count, count), Options(), {}))
    assert 40_000 < len(text.encode()) <= LIMIT
    assert "GitHub takes no more than 65,536 characters" in text
    assert re.search(r"… and [\d,]+ more lines, left out here\.", text)
    assert text.count("<details>") == text.count("</details>")
    assert "Made by [migrate-responses]" in text[-200:]


def test_a_short_report_says_nothing_of_limits() -> None:
    assert "65,536" not in as_markdown(report(EVERYTHING))


# -- markup


def test_code() -> None:
    assert code("a") == "`a`"
    assert code("a`b") == "``a`b``"
    assert code("`a`") == "`` `a` ``"
    assert code("a\n b") == "`a b`"
    assert code("") == "` `"


def test_plain_and_prose() -> None:
    assert plain("*a* _b_ [c](d) <e> & |") == "\\*a\\* \\_b\\_ \\[c\\](d) &lt;e&gt; &amp; \\|"
    assert plain("1. a") == "1\\. a"
    assert plain("# a") == "\\# a"
    assert plain("- a") == "\\- a"
    assert plain("@a") == "@\u2060a"
    assert prose("`a*` is *b* `c") == "`a*` is \\*b\\* \\`c"
    assert prose(" a ") == "a"


def test_fences_and_links() -> None:
    assert fenced(["a", "```"]) == "````python\na\n```\n````"
    assert link("a", "b c/(d).py", 3) == "[`a`](b%20c/%28d%29.py#L3)"


# -- the work orders


def test_an_order_for_each_flow_that_is_held_back() -> None:
    text = as_prompt(report(EVERYTHING))
    assert re.findall(r"^## Order (\d): `([^`]+)` in `(\w+)`$", text, re.MULTILINE) == [
        ("1", "app/seeded.py:7:14", "seeded"),
        ("2", "app/stopped.py:7:14", "stopped"),
    ]
    first, second = text.split("\n---\n")[1:]
    assert "migrate-responses apply --unsafe-fixes app/seeded.py" in first
    assert "--unsafe-fixes" not in second
    assert "migrate-responses check app/stopped.py" in second
    assert as_prompt(report({"a.py": READY})) == "Nothing is held back.\n"


def test_an_order_holds_all_the_code_of_its_flow() -> None:
    texts = {
        "client.py": "from openai import OpenAI\n\nllm = OpenAI()\n",
        "prompts.py": "UNRELATED = 1\n" * 50
        + '\n\ndef user(text):\n    return {"role": "user", "content": text}\n',
        "ask.py": "from client import llm\nfrom prompts import user\n\n\ndef ask(text):\n"
        '    return llm.chat.completions.create(model="m", messages=[user(text)], stop="x")\n',
        "main.py": "from ask import ask\n\nanswer = ask('hi')\nOTHER = 1\n"
        "\n\n\nprint(answer.choices[0].message.content)\n",
    }
    text = as_prompt(report(texts))
    shown = dict(re.findall(r"^`([\w.]+)`\n\n```python\n(.*?)\n```", text, re.MULTILINE | re.DOTALL))
    assert set(shown) == set(texts)
    assert re.search(r"^c 3  llm = OpenAI\(\)$", shown["client.py"], re.MULTILINE)
    assert re.search(r"^> 54      return \{\"role\"", shown["prompts.py"], re.MULTILINE)
    assert shown["prompts.py"].count("UNRELATED") <= 2
    assert re.search(r"^[!*] 6      return llm\.chat", shown["ask.py"], re.MULTILINE)
    assert re.search(r"^< 8  print\(answer", shown["main.py"], re.MULTILINE)
    assert "migrate-responses apply ask.py" in text


def test_an_order_tells_the_reason_and_the_shapes() -> None:
    text = as_prompt(report({"a.py": EVERYTHING["app/stopped.py"]}))
    assert (
        "- **MR112 stop** at `a.py:10:9`: `stop` has no Responses equivalent; trim the text yourself" in text
    )
    assert re.search(r"\*\*MR112 stop\*\* .*\n\n```python\n# before\nclient\.chat.*\n\n# after\n", text)
    assert re.search(
        r"\*\*MR301 .*\n\n```python\n# before\n.*message\.content\)\n\n# after\n.*output_text", text
    )


def test_calls_of_one_flow_are_one_order() -> None:
    shared = HEAD + "\n\nOPTIONS = {'stop': ['x'], 'max_tokens': 20}\n"
    text = as_prompt(
        report({"a.py": shared + call("one", "        **OPTIONS,\n") + call("two", "        **OPTIONS,\n")})
    )
    assert text.startswith("# 1 work order: ")
    assert "Move these 2 calls" in text
    assert text.count("# before") == len(set(re.findall(r"^\*\*(MR\d+) ", text, re.MULTILINE)))


def test_a_call_that_stands_alone_has_an_order_of_its_own() -> None:
    lone = "def ask(llm):\n    return llm.chat.completions.create(model='m', messages=[])\n"
    text = as_prompt(report({"a.py": f"import openai\n\n\n{lone}", "b.py": f"import openai\n\n\n{lone}"}))
    assert text.startswith("# 2 work orders: ")
    assert text.count("MR010") >= 2
    assert "* 5      return llm.chat" in text


def test_what_is_said_of_several_lone_calls_in_a_file_is_one_order() -> None:
    lone = "def NAME(llm):\n    return llm.chat.completions.create(model='m', messages=[])\n\n\n"
    text = as_prompt(
        report({"a.py": f"import openai\n\n\n{lone.replace('NAME', 'a')}{lone.replace('NAME', 'b')}"})
    )
    assert text.startswith("# 1 work order: ")
    assert "The same holds for each of them:" in text
    assert text.count("- **MR010") == 1
    assert "at `a.py:5:12`, `a.py:9:12`: " in text


def test_very_much_code_is_cut_and_said_so() -> None:
    lines = [f"messages.append({{'role': 'user', 'content': '{number}'}})" for number in range(900)]
    made = "client.chat.completions.create(model='m', messages=messages, stop='x')"
    text = as_prompt(report({"a.py": "\n".join([f"{HEAD}messages = []", *lines, made, ""])}))
    assert "… and more, left out" in text
    assert text.count("\n") < 900
