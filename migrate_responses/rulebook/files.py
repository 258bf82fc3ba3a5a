"""9xx: files, suppression and limits. These have no code to show."""

from __future__ import annotations

from migrate_responses.rulebook.rule import MANUAL, NOTE, PROJECT, Rule

FILES: tuple[Rule, ...] = (
    Rule(
        "MR901",
        "Syntax error",
        MANUAL,
        "The file is not valid Python 3, or not a notebook, or is Python that LibCST, the parser of this"
        " tool, does not read. It was left as it is. All others were processed. The exit status is 2.",
        "",
        "",
        PROJECT,
        step="mend it, or leave it out with --exclude",
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
        step="save it as UTF-8, or correct its coding comment",
    ),
    Rule(
        "MR903",
        "Not readable or writable",
        MANUAL,
        "The file could not be read or written: permissions, a full disk, a link that leads out of the"
        " project, or a file that has gone meanwhile. It was left as it is, with the flows that reach it.",
        "",
        "",
        PROJECT,
        step="check its permissions and where it is",
    ),
    Rule(
        "MR904",
        "Nested too deep",
        MANUAL,
        "The file nests expressions deeper than the parser can follow, or in ways that would take it minutes:"
        " a sum or a chain of thousands of terms, calls or attributes, or as many strings side by side. Split"
        " the expression, or leave the file out with `--exclude`.",
        "",
        "",
        "https://github.com/Instagram/LibCST/issues",
        step="split the expression, or leave the file out with --exclude",
    ),
    Rule(
        "MR905",
        "Changed meanwhile",
        MANUAL,
        "The file was changed by something else between reading and writing, so it was left. Run again.",
        "",
        "",
        PROJECT,
        step="run again",
    ),
    Rule(
        "MR906",
        "Git could not give it back",
        MANUAL,
        "The file stands in a git work tree and has changes that git does not hold, is not in git, or git"
        " cannot be asked about it. Commit or stage it, or use `--allow-dirty`. Nothing was written.",
        "",
        "",
        PROJECT,
        step="commit or stage it, or use --allow-dirty",
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
        step="name that file too",
    ),
    Rule(
        "MR908",
        "Suppressed by a comment",
        NOTE,
        "A comment `# migrate-responses: skip` on the statement or a block around it, or above it, or"
        " `# migrate-responses: skip-file` in the file, leaves this site, and the rest of its flow, as it is."
        " `skip=MR112` does so only while that rule is needed.",
        "client.chat.completions.create(model=MODEL, messages=messages)  # migrate-responses: skip",
        "client.chat.completions.create(model=MODEL, messages=messages)  # migrate-responses: skip",
        PROJECT,
    ),
    Rule(
        "MR909",
        "Analysis limit reached",
        MANUAL,
        "Following this flow took more steps than the tool allows itself, or led through a place that so many"
        " lists and dicts reach that they are not told apart, so what it reaches is not known for certain."
        " Run on fewer files, or split the code.",
        "",
        "",
        PROJECT,
        step="run on fewer files, or split the code",
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
        step="please report it with the code around it",
    ),
    Rule(
        "MR911",
        "Left out by an option",
        NOTE,
        "`--ignore`, `--select` or `per-file-ignores` leaves out a rule that this flow needs. A flow is"
        " migrated whole or not at all, so all of it stays. Every migrated call needs MR001, MR107 and MR201,"
        " so a selection without them migrates nothing.",
        "",
        "",
        PROJECT,
    ),
    Rule(
        "MR912",
        "Suppression comment not understood",
        NOTE,
        "The comment begins like one for this tool and asks for nothing that it knows. What it stands on is"
        " left alone all the same: the statement, or the file if nothing is called there."
        " Known are `skip`, `skip=CODE,..` and `skip-file`.",
        "client.chat.completions.create(model=MODEL, messages=messages)  # migrate-responses: skpi",
        "client.chat.completions.create(model=MODEL, messages=messages)  # migrate-responses: skip",
        PROJECT,
    ),
    Rule(
        "MR913",
        "Part of a document not read",
        MANUAL,
        "A cell or block that does not parse, a doctest, a block that does not say that it is Python, or"
        " a magic such as `%%writefile` or `%timeit`: it spells Chat Completions, or uses a name of a flow,"
        " and is not rewritten. A flow whose names it uses stays too, since half of it cannot be seen.",
        "",
        "",
        PROJECT,
        step="change it by hand",
    ),
    Rule(
        "MR914",
        "Too large",
        MANUAL,
        "A file with more than ten million characters of Python, or of more than 200 MB, would take hours and"
        " more memory than most machines have. So would files with more than twenty-five million characters"
        " that imports join. They were left as they are. All others were processed. The exit status is 2.",
        "",
        "",
        PROJECT,
        step="leave it out with --exclude",
    ),
)
