"""9xx: files, suppression and limits. These have no code to show."""

from __future__ import annotations

from migrate_responses.rulebook.rule import MANUAL, NOTE, PROJECT, Rule

FILES: tuple[Rule, ...] = (
    Rule(
        "MR901",
        "Syntax error",
        MANUAL,
        "The file is not valid Python 3, so it was left as it is. All others were processed. The"
        " exit status is 2.",
        "",
        "",
        PROJECT,
    ),
    Rule(
        "MR902",
        "Not decodable",
        MANUAL,
        "The file's bytes do not fit its encoding (UTF-8, unless a coding comment names another)."
        " Save it again, or correct the comment.",
        "",
        "",
        "https://peps.python.org/pep-0263/",
    ),
    Rule(
        "MR903",
        "Not readable or writable",
        MANUAL,
        "The file could not be read or written: permissions, a link that leads out of the project,"
        " or a file that has gone meanwhile. It was left as it is.",
        "",
        "",
        PROJECT,
    ),
    Rule(
        "MR904",
        "Nested too deep",
        MANUAL,
        "The file nests expressions deeper than the parser can follow (a sum of thousands of terms,"
        " say). Split the expression, or leave the file out with `--exclude`.",
        "",
        "",
        "https://github.com/Instagram/LibCST/issues",
    ),
    Rule(
        "MR905",
        "Changed meanwhile",
        MANUAL,
        "The file was changed by something else between reading and writing, so it was left. Run again.",
        "",
        "",
        PROJECT,
    ),
    Rule(
        "MR906",
        "Unstaged changes",
        MANUAL,
        "The file has changes that git does not hold, and overwriting it would mix them with the"
        " migration. Commit or stage them, or use `--allow-dirty`. Nothing was written.",
        "",
        "",
        PROJECT,
    ),
    Rule(
        "MR907",
        "The flow leaves PATHS",
        MANUAL,
        "The flow reaches a file that this run may not write, and a flow is migrated whole or not"
        " at all. Name that file too, or run on the whole project.",
        "",
        "",
        PROJECT,
    ),
    Rule(
        "MR908",
        "Suppressed by a comment",
        NOTE,
        "A comment `# migrate-responses: skip` on the statement, or `# migrate-responses:"
        " skip-file` in the file, leaves this site, and the rest of its flow, as it is.",
        "client.chat.completions.create(model=MODEL, messages=messages)  # migrate-responses: skip",
        "client.chat.completions.create(model=MODEL, messages=messages)  # migrate-responses: skip",
        PROJECT,
    ),
    Rule(
        "MR909",
        "Analysis limit reached",
        MANUAL,
        "Following this flow took more steps than the tool allows itself, so what it reaches is not known for"
        " certain. Run on fewer files, or split the code.",
        "",
        "",
        PROJECT,
    ),
    Rule(
        "MR910",
        "The rewrite failed",
        MANUAL,
        "The tool made something of this flow that does not parse, or stopped on a fault of its own. Nothing"
        " of the flow was changed. Please report it with the code around the place.",
        "",
        "",
        PROJECT,
    ),
)
