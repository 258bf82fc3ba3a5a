"""[tool.migrate-responses]: what is read, what is refused, and how the command line overrides it."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate_responses.config import ConfigError, Options, Settings, codes, load, merge


def written(tmp_path: Path, text: str, name: str = "pyproject.toml") -> str:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_no_table_means_defaults(tmp_path: Path) -> None:
    assert load(written(tmp_path, '[project]\nname = "x"\n')) == Options(Settings(), ())


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
        exclude = ["vendor/"]
    """
    options = load(written(tmp_path, text))
    assert options.exclude == ("vendor/",)
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
        ('select = ["MR999"]', "select .*names 'MR999', which no rule begins with; did you mean"),
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
