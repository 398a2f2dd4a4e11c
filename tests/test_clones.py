"""Files from git clones: at their commit, whatever the clone's configuration or the names in it try."""

from pathlib import Path

import pytest

from pools._checkouts import clones
from pools._checkouts.sources import File, Missing
from pools.errors import DataError, UsageError
from tests.builders.repositories import git, repository


def test_a_file_is_read_at_its_commit_wherever_the_clone_is(tmp_path: Path) -> None:
    first = repository(tmp_path / "o+n", {"a.py": b"old\r\n\xff\0"})
    second = repository(tmp_path / "o+n", {"a.py": b"new", "dir/b c.py": b"", "missing": b"blob 3"})
    third = repository(tmp_path / "p" / "q", {"x missing": b"here"})
    git(tmp_path, "clone", "--quiet", "--bare", "p/q", "r+s")
    wanted = {
        File("o/n", first, "a.py"): b"old\r\n\xff\0",
        File("o/n", second, "a.py"): b"new",
        File("o/n", second, "dir/b c.py"): b"",
        File("o/n", second, "missing"): b"blob 3",
        File("p/q", third, "x missing"): b"here",
        File("r/s", third, "x missing"): b"here",
    }
    assert dict(clones.read(tmp_path, list(wanted))) == wanted


def test_what_is_not_there_has_a_reason(tmp_path: Path) -> None:
    commit = repository(tmp_path / "o+n", {"dir/a.py": b"x"})
    wanted = {
        File("o/n", commit, "dir/b.py"): Missing("no file dir/b.py at the commit"),
        File("o/n", commit, "dir"): Missing("dir is a folder"),
        File("o/n", "0" * 40, "dir/a.py"): Missing(f"no commit {'0' * 40} in the clone of o/n"),
        File("p/q", commit, "dir/a.py"): Missing("no clone of p/q"),
    }
    assert dict(clones.read(tmp_path, list(wanted))) == wanted


def test_hostile_names_are_names(tmp_path: Path) -> None:
    names = ["--help", "a:b", "$(touch pwned)", "-", "@{u}", "a^{commit}", "**", "é\u200d.py", ":(glob)x"]
    commit = repository(tmp_path / "-o+-n", {name: name.encode() for name in names})
    wanted = {File("-o/-n", commit, name): name.encode() for name in names}
    assert dict(clones.read(tmp_path, list(wanted))) == wanted
    assert not list(tmp_path.rglob("pwned"))


def test_nothing_that_a_clone_or_the_user_configured_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clone = tmp_path / "o+n"
    commit = repository(clone, {"a.py": b"text", ".gitattributes": b"*.py diff=evil filter=evil"})
    ran = tmp_path / "ran"
    evil = f"sh -c 'touch {ran}; cat'"
    for key in (
        "diff.evil.textconv",
        "filter.evil.smudge",
        "core.fsmonitor",
        "core.pager",
        "core.sshCommand",
        "alias.cat-file",
    ):
        git(clone, "config", key, evil if key != "alias.cat-file" else f"!{evil}")
    other = repository(clone, {"a.py": b"replaced"})
    git(clone, "replace", commit, other)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", evil)
    monkeypatch.setenv("GIT_TRACE", str(ran))
    ran.unlink(missing_ok=True)
    file = File("o/n", commit, "a.py")
    assert dict(clones.read(tmp_path, [file])) == {file: b"text"}
    assert not ran.exists()


def test_a_clone_that_lacks_objects_does_not_fetch_them(tmp_path: Path) -> None:
    commit = repository(tmp_path / "whole", {"a.py": b"text"})
    git(tmp_path / "whole", "config", "uploadpack.allowFilter", "true")
    clones_folder = tmp_path / "clones"
    clones_folder.mkdir()
    url = (tmp_path / "whole").as_uri()
    git(clones_folder, "clone", "--quiet", "--filter=blob:none", "--no-checkout", url, "o+n")
    with pytest.raises(DataError, match=r"o\+n/\.git: git cannot read it \(.*\); clone it again, whole"):
        list(clones.read(clones_folder, [File("o/n", commit, "a.py")]))


def test_a_folder_inside_another_repository_is_not_that_repository(tmp_path: Path) -> None:
    commit = repository(tmp_path, {"a.py": b"text"})
    (tmp_path / "o+n").mkdir()
    with pytest.raises(UsageError, match=r"no clone of any of the 1 repositories, such as o\+n"):
        list(clones.read(tmp_path, [File("o/n", commit, "a.py")]))
    (tmp_path / "o+n" / ".git").mkdir()
    with pytest.raises(DataError, match=r"git cannot read it \(fatal: not a git repository"):
        list(clones.read(tmp_path, [File("o/n", commit, "a.py")]))


def test_no_git_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = repository(tmp_path / "o+n", {"a.py": b"text"})
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match=r"git is not installed"):
        list(clones.read(tmp_path, [File("o/n", commit, "a.py")]))
