"""Whatever happens while files are written, each is the old one or the new one, and nothing else is left."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import stat
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.faults import (
    CALL,
    DONE,
    LINUX,
    NOBODY,
    POSIX,
    ROOT,
    attribute,
    committed,
    git,
    litter,
    mounted,
    needs_nameless,
    put,
    run,
    script,
    texts,
)
from tests.faults import shared as shared  # a fixture

NAMES = [f"a{number:03}.py" for number in range(500)]

# -- killed


def killed(root: Path, before: str, temporary: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(temporary)}
    done = subprocess.run(
        [*script(before), "apply", "-q"],
        cwd=root,
        env=environment,
        capture_output=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr


def at(function: str, number: int, act: str) -> str:
    """Code that does ``act`` at a call of a function of ``os``."""
    return (
        f"import signal, time\nreal, calls = os.{function}, []\n"
        f"def counted(*given, **named):\n"
        f"    calls.append(1)\n"
        f"    if len(calls) == {number}: {act}\n"
        f"    return real(*given, **named)\n"
        f"os.{function} = counted"
    )


KILL = "os.kill(os.getpid(), signal.SIGKILL)"


@LINUX
@pytest.mark.parametrize(("function", "number"), [("fsync", 3), ("link", 1), ("replace", 1), ("replace", 4)])
@pytest.mark.parametrize("in_git", [False, True])
def test_kill_9_at_each_step(tmp_path: Path, function: str, number: int, in_git: bool) -> None:
    needs_nameless(tmp_path)
    root, temporary = tmp_path / "project", tmp_path / "temporary"
    temporary.mkdir()
    put(root, *NAMES[:6])
    if in_git:
        committed(root)
    killed(root, at(function, number, KILL), temporary)
    new = number - 1 if function == "replace" else 0
    assert texts(root) == {name: DONE if at < new else CALL for at, name in enumerate(NAMES[:6])}
    assert not [path for path in litter(root) if "/.git/" not in path]
    run("apply", cwd=root, TMPDIR=str(temporary))
    assert set(texts(root).values()) == {DONE}
    assert litter(tmp_path) == []


@POSIX
@pytest.mark.parametrize(("function", "number"), [("fsync", 3), ("replace", 4)])
def test_kill_9_where_files_need_names(tmp_path: Path, function: str, number: int) -> None:
    """As on macOS and on network file systems: the next run cleans up."""
    put(tmp_path, *NAMES[:6])
    killed(tmp_path, "os.__dict__.pop('O_TMPFILE', None)\n" + at(function, number, KILL), tmp_path)
    assert set(texts(tmp_path).values()) <= {CALL, DONE}
    assert litter(tmp_path)
    run("apply", cwd=tmp_path)
    assert set(texts(tmp_path).values()) == {DONE}
    assert litter(tmp_path) == []


@LINUX
def test_kill_9_at_any_moment_of_500_files(tmp_path: Path) -> None:
    needs_nameless(tmp_path)
    root, temporary = tmp_path / "project", tmp_path / "temporary"
    temporary.mkdir()
    chance = random.Random(0)
    seen = []
    for _ in range(4):
        put(root, *NAMES)
        process = subprocess.Popen(
            [*script(at("replace", 1, "os.write(1, b'go')")), "apply", "-q"],
            cwd=root,
            env={**os.environ, "TMPDIR": str(temporary)},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert process.stdout is not None
        process.stdout.read(2)
        time.sleep(chance.uniform(0, 0.02))
        process.kill()
        process.communicate()
        found = texts(root)
        assert sorted(found) == NAMES
        assert set(found.values()) <= {CALL, DONE}
        assert litter(root) == []
        seen.append(list(found.values()).count(DONE))
    assert any(0 < new < len(NAMES) for new in seen), seen
    put(root, NAMES[0])
    run("apply", cwd=root, TMPDIR=str(temporary))
    assert set(texts(root).values()) == {DONE}
    assert litter(tmp_path) == []


def test_only_what_a_run_left_is_removed(tmp_path: Path) -> None:
    left = f".migrate-responses-{'0' * 16}.new"
    own = {".migrate-responses-notes.new", ".migrate-responses.toml", f"{left}.txt"}
    put(tmp_path, "a.py", left, *own)
    run("apply", cwd=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"a.py", *own}


# -- asked to end


@POSIX
@pytest.mark.parametrize(
    ("name", "status", "word"),
    [("SIGINT", 130, "Interrupted"), ("SIGTERM", 143, "Terminated"), ("SIGHUP", 129, "Hung up")],
)
@pytest.mark.parametrize(("function", "number"), [("fsync", 3), ("replace", 2)])
def test_a_signal_to_end(
    tmp_path: Path, name: str, status: int, word: str, function: str, number: int
) -> None:
    put(tmp_path, *NAMES[:6])
    act = f"os.kill(os.getpid(), signal.{name})"
    done = run("apply", cwd=tmp_path, status=status, before=at(function, number, act))
    left = "all files are written" if function == "replace" else "nothing was written"
    assert (done.stdout, done.stderr) == ("", f"{word}; {left}.\n")
    assert set(texts(tmp_path).values()) == {DONE if function == "replace" else CALL}
    assert litter(tmp_path) == []


@POSIX
def test_impatience_changes_nothing(tmp_path: Path) -> None:
    put(tmp_path, *NAMES[:6])
    act = "[os.kill(os.getpid(), signal.SIGINT) for _ in range(20)]"
    done = run("apply", cwd=tmp_path, status=130, before=at("replace", 2, act))
    assert done.stderr == "Interrupted; all files are written.\n"
    assert set(texts(tmp_path).values()) == {DONE}


@POSIX
def test_nohup_is_respected(tmp_path: Path) -> None:
    put(tmp_path, *NAMES[:6])
    before = "import signal\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
    run("apply", cwd=tmp_path, before=before + at("fsync", 3, "os.kill(os.getpid(), signal.SIGHUP)"))
    assert set(texts(tmp_path).values()) == {DONE}


# -- no room, no permission


@LINUX
@ROOT
def test_a_full_disk(tmp_path: Path) -> None:
    with mounted(tmp_path, "-t", "tmpfs", "-o", "size=64k", "none"):
        put(tmp_path, "a.py", text=CALL + "#" * 30_000)
        put(tmp_path, "b.py", text=CALL)
        before = texts(tmp_path)
        done = run("apply", cwd=tmp_path, status=2, TMPDIR=str(tmp_path))
        assert (
            "a.py: MR903 could not be written: No space left on device; make room on the disk" in done.stderr
        )
        assert texts(tmp_path) == {"a.py": before["a.py"], "b.py": DONE}  # there was room for one of them
        assert litter(tmp_path) == []


@POSIX
def test_a_limit_on_the_size_of_files(tmp_path: Path) -> None:
    put(tmp_path, "a.py", text=CALL + "#" * 5_000)
    limit = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))"
    done = run("apply", cwd=tmp_path, status=2, before=limit)
    assert "a.py: MR903 could not be written: File too large; raise the limit" in done.stderr
    assert texts(tmp_path) == {"a.py": CALL + "#" * 5_000}
    assert litter(tmp_path) == []


@POSIX
def test_more_files_than_a_process_may_open(tmp_path: Path) -> None:
    put(tmp_path, *NAMES[:300])
    limit = "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (200, 200))"
    run("apply", cwd=tmp_path, before=limit)
    assert set(texts(tmp_path).values()) == {DONE}
    assert litter(tmp_path) == []


def refused(root: Path, reason: str, groups: tuple[int, ...] | None = None) -> None:
    """``a.py`` is refused for ``reason``, and ``sub/b.py`` is written all the same."""
    done = run("apply", cwd=root, status=2, groups=groups)
    assert f"a.py: MR903 {reason}" in done.stderr
    assert "1 file could not be processed (MR903, see above)" in done.stdout
    assert texts(root) == {"a.py": CALL, "sub/b.py": DONE}
    assert litter(root) == []


@POSIX
def test_a_read_only_file(tmp_path: Path) -> None:
    put(tmp_path, "a.py", "sub/b.py")
    (tmp_path / "a.py").chmod(0o444)
    refused(tmp_path, "is read-only; make it writable, or leave it out with --exclude")


@ROOT
def test_a_file_that_only_others_may_write(shared: Path) -> None:
    put(shared, "a.py", "sub/b.py")
    for path in (shared, shared / "sub", shared / "sub" / "b.py"):
        os.chown(path, NOBODY, NOBODY)
    refused(shared, "may not be written to: Permission denied; check its permissions", groups=())


@ROOT
def test_a_folder_that_may_not_be_written_to(shared: Path) -> None:
    put(shared, "a.py", "sub/b.py")
    for path in (shared / "a.py", shared / "sub", shared / "sub" / "b.py"):
        os.chown(path, NOBODY, NOBODY)
    refused(shared, "could not be written: Permission denied; check the permissions", groups=())


@ROOT
def test_a_folder_in_which_only_owners_may_replace(shared: Path) -> None:
    """Found out only when the file is to be replaced: those before it are put back, and decided on anew."""
    put(shared, "0.py", "a.py", "sub/b.py")
    shared.chmod(0o1777)
    (shared / "a.py").chmod(0o666)
    for path in (shared / "0.py", shared / "sub", shared / "sub" / "b.py"):
        os.chown(path, NOBODY, NOBODY)
    done = run("apply", cwd=shared, status=2, groups=())
    assert "a.py: MR903 could not be written: Operation not permitted; check the permissions" in done.stderr
    assert texts(shared) == {"0.py": DONE, "a.py": CALL, "sub/b.py": DONE}
    assert litter(shared) == []


@LINUX
@ROOT
@pytest.mark.parametrize("letter", ["i", "a"])
def test_an_immutable_or_append_only_file(tmp_path: Path, letter: str) -> None:
    put(tmp_path, "a.py", "sub/b.py")
    with attribute(tmp_path / "a.py", letter):
        refused(tmp_path, "may not be written to: Operation not permitted; check its permissions")


@LINUX
@ROOT
def test_an_immutable_folder(tmp_path: Path) -> None:
    put(tmp_path, "a.py", "sub/b.py")
    with attribute(tmp_path, "i"):
        refused(tmp_path, "could not be written: Operation not permitted")


@LINUX
@ROOT
def test_a_file_mounted_by_itself(tmp_path: Path) -> None:
    """As containers do it. Replacing it fails at the last moment, so the files before it are put back."""
    put(tmp_path, "project/0.py", "project/a.py", "project/sub/b.py", "elsewhere.py")
    root = tmp_path / "project"
    with mounted(root / "a.py", "--bind", str(tmp_path / "elsewhere.py")):
        done = run("apply", cwd=root, status=2)
        assert (
            "a.py: MR903 could not be written: Device or resource busy; it is mounted by itself"
            in done.stderr
        )
        assert texts(root) == {"0.py": DONE, "a.py": CALL, "sub/b.py": DONE}
        assert litter(root) == []


@LINUX
@ROOT
def test_a_project_on_two_disks(tmp_path: Path) -> None:
    put(tmp_path, "a.py")
    (tmp_path / "disk").mkdir()
    with mounted(tmp_path / "disk", "-t", "tmpfs", "none") as disk:
        put(disk, "b.py", "sub/c.py")
        committed(tmp_path)
        run("apply", cwd=tmp_path)
        assert texts(tmp_path) == {"a.py": DONE, "disk/b.py": DONE, "disk/sub/c.py": DONE}
        assert litter(tmp_path) == []


@LINUX
@ROOT
def test_a_disk_that_is_read_only(tmp_path: Path) -> None:
    put(tmp_path, "sub/b.py")
    (tmp_path / "disk").mkdir()
    with mounted(tmp_path / "disk", "-t", "tmpfs", "none") as disk:
        put(disk, "a.py")
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        done = run("apply", cwd=tmp_path, status=2)
        step = "could not be written: Read-only file system; it is on a disk that cannot be written to"
        assert f"disk/a.py: MR903 {step}" in done.stderr
        assert texts(tmp_path) == {"disk/a.py": CALL, "sub/b.py": DONE}


def test_a_failure_half_way_puts_flows_back_whole(tmp_path: Path) -> None:
    """``0.py`` is replaced when ``a.py`` fails; as its flow reaches ``a.py``, it must not stay so."""
    tied = CALL.replace("\n", "  # flow-with a.py\n")
    put(tmp_path, "0.py", text=tied)
    put(tmp_path, "a.py", "b.py")
    fails = (
        "real = os.replace\n"
        "def replace(source, target):\n"
        "    if target.endswith('a.py'): raise OSError(5, 'Input/output error', target)\n"
        "    real(source, target)\n"
        "os.replace = replace"
    )
    done = run("apply", cwd=tmp_path, status=2, before=fails)
    assert "a.py: MR903 could not be written: Input/output error" in done.stderr
    assert texts(tmp_path) == {"0.py": tied, "a.py": CALL, "b.py": DONE}
    assert litter(tmp_path) == []


# -- others at work


def meanwhile(act: str) -> str:
    """Code that makes something happen after all is read and decided, before the first file is written."""
    return (
        "import pathlib, shutil\nfrom migrate_responses import write as module\nreal = module.write\n"
        "def write(changes):\n    changes = list(changes)\n"
        f"    if not done:\n        done.append(1)\n        {act}\n"
        "    return real(changes)\n"
        "done = []\nmodule.write = write"
    )


def test_a_file_that_is_changed_meanwhile(tmp_path: Path) -> None:
    put(tmp_path, "a.py", "b.py")
    done = run("apply", cwd=tmp_path, status=2, before=meanwhile("pathlib.Path('a.py').write_text('mine')"))
    assert "a.py: MR905 was changed while the run was reading it; run again" in done.stderr
    assert texts(tmp_path) == {"a.py": "mine", "b.py": DONE}


def test_a_file_and_a_folder_that_vanish_meanwhile(tmp_path: Path) -> None:
    put(tmp_path, "a.py", "b.py", "sub/c.py", "taken/d.py")
    act = "os.unlink('a.py'); [shutil.rmtree(x) for x in ('sub', 'taken')]; open('taken', 'w').close()"
    done = run("apply", cwd=tmp_path, status=2, before=meanwhile(act))
    for name in ("a.py", "sub/c.py"):
        assert f"{name}: MR903 could not be written: No such file or directory; it has gone" in done.stderr
    assert "taken/d.py: MR903 could not be written: Not a directory; its folder has gone" in done.stderr
    assert texts(tmp_path) == {"b.py": DONE}


@POSIX
def test_a_link_that_takes_the_place_of_a_folder_meanwhile(tmp_path: Path) -> None:
    put(tmp_path, "project/sub/a.py", "project/b.py", "outside/a.py")
    act = "os.rename('sub', 'old'); os.symlink('../outside', 'sub')"
    done = run("apply", cwd=tmp_path / "project", status=2, before=meanwhile(act))
    assert "sub/a.py: MR903 is reached through a link" in done.stderr
    assert (tmp_path / "outside" / "a.py").read_text(encoding="utf-8") == CALL
    assert litter(tmp_path) == []


def test_two_runs_at_once(tmp_path: Path) -> None:
    put(tmp_path, *NAMES)
    runs = [
        subprocess.Popen(
            [*script(), "apply", "-q"],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for one in runs:
        assert one.communicate(timeout=100) == ("", "")
        assert one.returncode == 0
    assert set(texts(tmp_path).values()) == {DONE}
    assert sorted(texts(tmp_path)) == NAMES
    assert litter(tmp_path) == []


@POSIX
def test_a_run_waits_for_another_that_writes(tmp_path: Path) -> None:
    from fcntl import LOCK_EX, flock

    put(tmp_path, "a.py")
    handle = os.open(tmp_path, os.O_RDONLY)
    flock(handle, LOCK_EX)
    process = subprocess.Popen([*script(), "apply", "-q"], cwd=tmp_path)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(3)
    assert texts(tmp_path) == {"a.py": CALL}
    os.close(handle)
    assert process.wait(100) == 0
    assert texts(tmp_path) == {"a.py": DONE}


# -- what belongs to a file


@POSIX
def test_a_hard_link_is_parted_and_its_other_name_keeps_the_old_text(tmp_path: Path) -> None:
    put(tmp_path, "a.py")
    (tmp_path / "cache").mkdir()
    os.link(tmp_path / "a.py", tmp_path / "cache" / "a.txt")
    run("apply", cwd=tmp_path)
    assert (tmp_path / "cache" / "a.txt").read_text(encoding="utf-8") == CALL
    assert texts(tmp_path) == {"a.py": DONE}


@POSIX
def test_two_names_of_one_file_are_both_written(tmp_path: Path) -> None:
    put(tmp_path, "a.py")
    os.link(tmp_path / "a.py", tmp_path / "b.py")
    run("apply", cwd=tmp_path)
    assert texts(tmp_path) == {"a.py": DONE, "b.py": DONE}


@POSIX
def test_links_in_the_project_stay_and_lead_to_what_is_written(tmp_path: Path) -> None:
    put(tmp_path, "pyproject.toml", text="")
    put(tmp_path, "a.py", "real/b.py")
    (tmp_path / "link.py").symlink_to("a.py")
    (tmp_path / "folder").symlink_to("real")
    run("apply", "link.py", "folder", cwd=tmp_path)
    assert (tmp_path / "link.py").is_symlink()
    assert (tmp_path / "folder").is_symlink()
    assert (tmp_path / "a.py").read_text(encoding="utf-8") == DONE
    assert (tmp_path / "real" / "b.py").read_text(encoding="utf-8") == DONE


@POSIX
@pytest.mark.parametrize("named", [True, False])
def test_links_out_of_the_project_are_never_followed(tmp_path: Path, named: bool) -> None:
    root = put(tmp_path / "project", "pyproject.toml", text="")
    put(tmp_path / "outside", "a.py", "sub/b.py")
    (root / "link.py").symlink_to("../outside/a.py")
    (root / "folder").symlink_to("../outside/sub")
    if named:
        done = run("apply", "link.py", "folder/b.py", cwd=root, status=2)
        step = "is a link that leads out of the project; name the file it points to instead"
        assert f"link.py: MR903 {step}" in done.stderr
        assert f"folder/b.py: MR903 {step}" in done.stderr
    else:
        run("apply", cwd=root)
    assert texts(tmp_path / "outside") == {"a.py": CALL, "sub/b.py": CALL}


@ROOT
def test_mode_owner_and_group_are_kept(tmp_path: Path) -> None:
    put(tmp_path, "a.py")
    os.chown(tmp_path / "a.py", 12345, 23456)
    (tmp_path / "a.py").chmod(0o4751)
    run("apply", cwd=tmp_path)
    status = (tmp_path / "a.py").stat()
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (12345, 23456, 0o4751)


@ROOT
def test_a_shared_group_is_kept_where_the_owner_cannot_be(shared: Path) -> None:
    """Somebody else's file in a group of one's own. Nobody gets the rights of an owner that it had."""
    put(shared, "a.py")
    os.chown(shared, 0, 23456)
    shared.chmod(0o775)
    os.chown(shared / "a.py", 12345, 23456)
    (shared / "a.py").chmod(0o4775)
    run("apply", cwd=shared, groups=(23456,))
    status = (shared / "a.py").stat()
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (NOBODY, 23456, 0o775)


# Access lists as the system keeps them: version 2, then tag, permissions and id of each entry.
def access(*entries: tuple[int, int, int]) -> bytes:
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


NONE = 0xFFFFFFFF
USER, NAMED, GROUP, MASK, OTHER = 1, 2, 4, 16, 32
LIST = access((USER, 6, NONE), (NAMED, 6, 12345), (GROUP, 0, NONE), (MASK, 6, NONE), (OTHER, 0, NONE))
ACL = "system.posix_acl_access"


def setxattr(path: Path, name: str, value: bytes) -> None:
    try:
        os.setxattr(path, name, value)
    except OSError as error:
        pytest.skip(f"this file system keeps no {name}: {error}")


@LINUX
def test_access_lists_and_attributes_are_kept(tmp_path: Path) -> None:
    put(tmp_path, "a.py")
    setxattr(tmp_path / "a.py", ACL, LIST)
    setxattr(tmp_path / "a.py", "user.note", b"\0\xff")
    run("apply", cwd=tmp_path)
    assert os.getxattr(tmp_path / "a.py", ACL) == LIST
    assert os.getxattr(tmp_path / "a.py", "user.note") == b"\0\xff"
    assert texts(tmp_path) == {"a.py": DONE}


@LINUX
def test_what_a_folder_gives_to_new_files_is_not_given(tmp_path: Path) -> None:
    """The file is not new, so nobody may read it who could not read it before."""
    put(tmp_path, "a.py")
    (tmp_path / "a.py").chmod(0o640)
    setxattr(tmp_path, "system.posix_acl_default", LIST)
    run("apply", cwd=tmp_path)
    assert ACL not in os.listxattr(tmp_path / "a.py")
    assert stat.S_IMODE((tmp_path / "a.py").stat().st_mode) == 0o640


# -- names

ODD = [
    b"with space.py",
    b" lead.py",
    b"new\nline.py",
    b"tab\t.py",
    b'quo"te\\.py',
    b"-dash.py",
    b"[red]<b>&amp;.py",
    "bidi\u202eyp.py".encode(),
    "caf\u00e9 \U0001f600.py".encode(),
    b"not utf-8 \xff\xfe.py",
    b"\x1b[31m\x07.py",
    b"x" * 252 + b".py",
]


@POSIX
@pytest.mark.parametrize("environment", [{}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}])
def test_odd_names(tmp_path: Path, environment: dict[str, str]) -> None:
    root = os.fsencode(tmp_path / "project")
    for name in ODD:
        os.makedirs(os.path.join(root, name + b".d" if len(name) < 200 else b"long"))
        for path in (name, os.path.join(name + b".d" if len(name) < 200 else b"long", name)):
            Path(os.fsdecode(os.path.join(root, path))).write_text(CALL, encoding="utf-8")
    here = committed(tmp_path / "project")
    for form in ("terminal", "json", "sarif", "github", "markdown", "html", "prompt"):
        report = tmp_path / form
        run("report", "--format", form, "--output", str(report), cwd=here, **environment)
        text = report.read_text(encoding="utf-8")
        assert "\x1b" not in text
        if form in ("json", "sarif"):
            json.loads(text)
    patch = run("diff", "-q", cwd=here, **environment).stdout
    copy = tmp_path / "copy"
    shutil.copytree(here, copy)
    subprocess.run(["git", "apply", "-"], cwd=copy, input=os.fsencode(patch), check=True)
    assert "\x1b" not in run("check", cwd=here, status=1, **environment).stdout
    run("apply", cwd=here, **environment)
    for top in (here, copy):
        found = {path.read_text(encoding="utf-8") for path in top.rglob("*.py") if path.is_file()}
        assert found == {DONE}
    assert git(here, "status", "--porcelain").count("\n") == 2 * len(ODD)


@LINUX
@pytest.mark.parametrize("in_git", [True, False])
def test_a_path_longer_than_the_system_takes(tmp_path: Path, in_git: bool) -> None:
    """Nothing can be opened by such a path, so that is told about, and all others are written."""
    put(tmp_path, "a.py")
    if in_git:
        committed(tmp_path)
    down = "for _ in range(21): os.mkdir('d' * 200), os.chdir('d' * 200)"
    deep = f"import os\n{down}\nopen('deep.py', 'w').write({CALL!r})"
    subprocess.run([sys.executable, "-c", deep], cwd=tmp_path, check=True)
    done = run("apply", cwd=tmp_path, status=2)
    assert "d: MR903 is a folder that could not be looked into: File name too long; check its" in done.stderr
    assert (tmp_path / "a.py").read_text(encoding="utf-8") == DONE


# -- reports


@LINUX
@ROOT
def test_a_report_that_finds_no_room_leaves_the_old_one(tmp_path: Path) -> None:
    put(tmp_path, "a.py", text=CALL * 500)
    (tmp_path / "disk").mkdir()
    with mounted(tmp_path / "disk", "-t", "tmpfs", "-o", "size=16k", "none") as disk:
        (disk / "report.json").write_text("old", encoding="utf-8")
        arguments = ("report", "--format", "json", "--output", "disk/report.json", "a.py")
        done = run(*arguments, cwd=tmp_path, status=2)
        assert "disk/report.json cannot be written: No space left on device." in done.stderr
        assert (disk / "report.json").read_text(encoding="utf-8") == "old"
        assert litter(tmp_path) == []


@POSIX
def test_a_report_goes_to_devices_links_and_pipes(tmp_path: Path) -> None:
    put(tmp_path, "a.py")
    run("report", "--output", os.devnull, cwd=tmp_path)
    assert not Path(os.devnull).is_file()
    (tmp_path / "link.txt").symlink_to("real.txt")
    (tmp_path / "real.txt").write_text("old", encoding="utf-8")
    run("report", "--output", "link.txt", cwd=tmp_path)
    assert (tmp_path / "link.txt").is_symlink()
    assert "a.py" in (tmp_path / "real.txt").read_text(encoding="utf-8")
    assert "a.py" in run("report", "--output", "/dev/stdout", cwd=tmp_path).stdout
