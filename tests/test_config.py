"""[tool.migrate-responses]: what is read, what is refused, and how the command line overrides it."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from migrate_responses.config import KEYS, ConfigError, Options, Settings, codes, load, matching, merge

SCHEMA = json.loads(
    resources.files("migrate_responses").joinpath("schemas/config.json").read_text(encoding="utf-8")
)


def written(tmp_path: Path, text: str, name: str = "pyproject.toml") -> str:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_no_table_means_defaults(tmp_path: Path) -> None:
    path = written(tmp_path, '[project]\nname = "x"\n')
    assert load(path) == Options(Settings(), (), file=path)


def test_every_key(tmp_path: Path) -> None:
    text = """
        [tool.migrate-responses]
        unsafe-fixes = true
        api-defaults = "adopt"
        assume-responses = ["dynamic", "https://llm.example.com/v1"]
        assume-clients = ["llm"]
        select = ["mr1", "MR201"]
        ignore = ["MR110"]
        raise-on-failure = true
        include-docs = true
        exclude = ["vendor/"]
        [tool.migrate-responses.per-file-ignores]
        "tests/*" = ["MR803", "mr0"]
    """
    options = load(written(tmp_path, text))
    assert set(options.written) == set(KEYS)
    assert options.exclude == ("vendor/",)
    assert options.include_docs
    assert options.per_file_ignores == (("tests/*", frozenset({"MR803", "MR0"})),)
    assert options.settings == Settings(
        unsafe_fixes=True,
        api_defaults="adopt",
        assume_responses=frozenset({"dynamic", "https://llm.example.com/v1"}),
        assume_clients=frozenset({"llm"}),
        select=frozenset({"MR1", "MR201"}),
        ignore=frozenset({"MR110"}),
        raise_on_failure=True,
    )


def test_a_file_of_its_own_needs_no_table(tmp_path: Path) -> None:
    assert load(written(tmp_path, "unsafe-fixes = true\n", "mr.toml")).settings.unsafe_fixes


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("unsafe-fix = true", "unknown key 'unsafe-fix' .*did you mean 'unsafe-fixes'"),
        ("zzz = 1", r"unknown key 'zzz' .*known: unsafe-fixes, api-defaults"),
        ('unsafe-fixes = "yes"', "unsafe-fixes .*must be true or false"),
        ('api-defaults = "new"', "must be one of preserve, adopt, not 'new'"),
        ('exclude = "vendor"', "exclude .*must be a list of strings"),
        ("exclude = [1]", "exclude .*must be a list of strings"),
        ('exclude = ["!"]', "exclude .*has '!', which is no pattern of .gitignore"),
        ("per-file-ignores = 1", "must be a table from patterns to lists of codes"),
        ('per-file-ignores = {"a.py" = ["MR999"]}', "at 'a.py' names 'MR999', which no rule begins with"),
        ('per-file-ignores = {"a.py" = "MR803"}', "at 'a.py' must be a list of strings"),
        (
            'select = ["MR999"]',
            "select .*names 'MR999', which no rule begins with; `migrate-responses explain`",
        ),
        ("= 3", "is not valid TOML"),
    ],
)
def test_refused(tmp_path: Path, line: str, message: str) -> None:
    path = written(tmp_path, f"[tool.migrate-responses]\n{line}\n")
    with pytest.raises(ConfigError, match=message) as raised:
        load(path)
    assert str(raised.value).startswith(path)


def test_table_must_be_a_table(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="must be a table"):
        load(written(tmp_path, "[tool]\nmigrate-responses = 1\n"))


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load(str(tmp_path / "none.toml"))


def test_command_line_overrides_and_adds() -> None:
    written = Options(Settings(assume_responses=frozenset({"a"}), ignore=frozenset({"MR110"})), ("x",))
    merged = merge(
        written,
        ("y",),
        unsafe_fixes=True,
        api_defaults=None,
        assume_responses=("b",),
        assume_clients=(),
        select=frozenset(),
        ignore=frozenset({"MR2"}),
        raise_on_failure=False,
    )
    assert merged.exclude == ("x", "y")
    assert merged.settings == Settings(
        unsafe_fixes=True, assume_responses=frozenset({"a", "b"}), ignore=frozenset({"MR2"})
    )


def test_codes() -> None:
    assert codes(["mr112", "MR3"]) == {"MR112", "MR3"}
    with pytest.raises(ValueError, match="''"):
        codes([""])


# -- patterns stand for paths below the folder in which they are written


@pytest.mark.parametrize(
    ("pattern", "hit", "missed"),
    [
        ("gen.py", "services/a/deep/gen.py", "services/b/gen.py"),
        ("src/gen.py", "services/a/src/gen.py", "src/gen.py"),
        ("/gen.py", "services/a/gen.py", "services/a/src/gen.py"),
        ("vendor/", "services/a/x/vendor/y.py", "vendor/y.py"),
    ],
)
def test_patterns_of_a_project_below(tmp_path: Path, pattern: str, hit: str, missed: str) -> None:
    (tmp_path / ".git").mkdir()
    folder = tmp_path / "services" / "a"
    folder.mkdir(parents=True)
    text = f"exclude = [{pattern!r}]\nper-file-ignores = {{{pattern!r} = ['MR8']}}\n"
    options = load(written(folder, f"[tool.migrate-responses]\n{text}"))
    assert matching([hit, missed], options.exclude) == {hit}
    ((ignored, _),) = options.per_file_ignores
    assert matching([hit, missed], [ignored]) == {hit}


def test_odd_folders_are_taken_literally(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    folder = tmp_path / "a[b]*"
    folder.mkdir()
    options = load(written(folder, "[tool.migrate-responses]\nexclude = ['*.py', '!keep.py']\n"))
    names = ["a[b]*/x.py", "a[b]*/keep.py", "ab/x.py"]
    assert matching(names, options.exclude) == {"a[b]*/x.py"}


# -- the schema for editors says what the loader does

EXAMPLES: list[tuple[dict[str, Any], bool]] = [
    ({}, True),
    ({"unsafe-fixes": True, "api-defaults": "adopt", "raise-on-failure": False}, True),
    ({"assume-responses": ["azure", "https://llm.example.com/v1"], "assume-clients": ["llm"]}, True),
    ({"select": ["MR1", "mr201"], "ignore": ["MR110"]}, True),
    ({"exclude": ["vendor/"], "include-docs": True}, True),
    ({"per-file-ignores": {"tests/*": ["MR803"]}}, True),
    ({"unsafe_fixes": True}, False),
    ({"unsafe-fixes": "yes"}, False),
    ({"api-defaults": "new"}, False),
    ({"exclude": "vendor"}, False),
    ({"assume-clients": [1]}, False),
    ({"ignore": ["E501"]}, False),
    ({"select": "MR1"}, False),
    ({"per-file-ignores": ["tests/*"]}, False),
    ({"per-file-ignores": {"tests/*": "MR803"}}, False),
]


def test_the_schema_has_the_keys_of_the_loader() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert list(SCHEMA["properties"]) == list(KEYS)
    for key, rule in SCHEMA["properties"].items():
        assert rule["description"]
        default = {**SCHEMA["$defs"]["codes"], **rule}["default"]
        attribute = key.replace("-", "_")
        holder = Options().settings if hasattr(Settings(), attribute) else Options()
        chosen = getattr(holder, attribute)
        assert default == chosen or not (default or chosen), key


@pytest.mark.parametrize(("table", "good"), EXAMPLES)
def test_the_schema_agrees_with_the_loader(tmp_path: Path, table: dict[str, Any], good: bool) -> None:
    lines = [f"{key} = {toml(value)}" for key, value in table.items()]
    path = written(tmp_path, "\n".join(["[tool.migrate-responses]", *lines]) + "\n")
    assert Draft202012Validator(SCHEMA).is_valid(table) == good
    if good:
        assert load(path).written == table
    else:
        with pytest.raises(ConfigError):
            load(path)


def toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(item)}" for key, item in value.items()) + "}"
    return json.dumps(value)


def test_a_tool_that_is_no_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text("tool = 3\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="`tool` must be a table"):
        load(str(path))


def test_a_device_is_no_configuration() -> None:
    with pytest.raises(ConfigError, match="is no file"):
        load("/dev/zero")


def test_a_configuration_has_an_end(tmp_path: Path) -> None:
    path = tmp_path / "huge.toml"
    path.write_text("# " + "x" * 1_000_001, encoding="utf-8")
    with pytest.raises(ConfigError, match="too large"):
        load(str(path))
