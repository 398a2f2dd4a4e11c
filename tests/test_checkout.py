"""Which files of a checkout are read, which are left out and why, and what is known of where they come from."""

import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pools._checkouts import checkout
from pools.errors import UsageError
from tests.builders.repositories import CODE, git, write


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A git checkout with one commit of three tracked files, and an untracked and an ignored one."""
    folder = tmp_path / "project"
    write(folder, "b.py", "a/c.py", "a/d.go", "a b/é.py")
    write(folder, ".gitignore", content=b"ignored.py\n")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "first")
    write(folder, "untracked.py", "ignored.py")
    return folder


def read(folder: Path, include_vendored: bool = False) -> tuple[list[str], dict[str, int]]:
    """The paths of the python sources of a folder, and what was left out."""
    left_out: Counter[str] = Counter()
    found = checkout.sources(checkout.open_checkout(folder), {".py"}, include_vendored=include_vendored, left_out=left_out)
    return [path for path, _ in found], dict(left_out)


def test_tracked_files_only_in_order_of_path(repository: Path) -> None:
    assert read(repository) == (["a b/é.py", "a/c.py", "b.py"], {})
    found = checkout.open_checkout(repository)
    assert found.git
    assert found.commit == git(repository, "rev-parse", "HEAD")
    assert (found.repository, found.page) == ("project", None)


def test_a_folder_of_a_checkout_keeps_paths_from_its_root(repository: Path) -> None:
    assert read(repository / "a") == (["a/c.py"], {})
    link = repository.parent / "link"
    link.symlink_to(repository / "a")
    assert read(link) == (["a/c.py"], {})


def test_a_changed_file_has_no_commit(repository: Path) -> None:
    write(repository, "b.py", content=b"def g(): pass\n")
    write(repository, "staged.py")
    git(repository, "add", "staged.py")
    (repository / "a/c.py").unlink()
    found = checkout.open_checkout(repository)
    assert found.commit_of("b.py") is found.commit_of("staged.py") is None
    assert found.commit_of("a b/é.py") == found.commit
    assert read(repository) == (["a b/é.py", "b.py", "staged.py"], {"tracked but not there": 1})


def test_before_the_first_commit_there_is_none(tmp_path: Path) -> None:
    write(tmp_path, "a.py", "b.py")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "a.py")
    assert checkout.open_checkout(tmp_path).commit is None
    assert read(tmp_path) == (["a.py"], {})


@pytest.mark.parametrize(
    ("remote", "name", "page"),
    [
        ("https://github.com/some/where.git", "some/where", True),
        ("https://me:secret@github.com/some/where", "some/where", True),
        ("git@github.com:some/where.git", "some/where", True),
        ("ssh://git@example.org:2222/group/sub/where.git/", "group/sub/where", False),
        ("/srv/private/where.git", "project", False),
        ("../where", "project", False),
    ],
)
def test_repository_and_address_come_from_the_remote_without_its_secrets(
    repository: Path, remote: str, name: str, page: bool
) -> None:
    git(repository, "remote", "add", "origin", remote)
    found = checkout.open_checkout(repository)
    assert found.repository == name
    url = found.url("a b/é.py", 3, last_line=5)
    assert url == (f"https://github.com/some/where/blob/{found.commit}/a%20b/%C3%A9.py#L3-L5" if page else None)
    assert "secret" not in repr(found)
    write(repository, "b.py", content=b"def g(): pass\n")
    assert checkout.open_checkout(repository).url("b.py", 1, last_line=1) is None


def test_a_submodule_is_not_part_of_the_checkout(repository: Path) -> None:
    git(repository, "update-index", "--add", "--cacheinfo", f"160000,{git(repository, 'rev-parse', 'HEAD')},sub.py")
    write(repository, "sub.py/e.py")
    assert read(repository) == (["a b/é.py", "a/c.py", "b.py"], {})


def test_what_git_tracks_nothing_of_is_walked(repository: Path) -> None:
    write(repository, "unpacked/x.py", "unpacked/y/z.py", "unpacked/.hg/store.py")
    found = checkout.open_checkout(repository / "unpacked")
    assert (found.git, found.commit, found.repository) == (False, None, "unpacked")
    assert read(repository / "unpacked") == (["x.py", "y/z.py"], {})


def test_a_monitor_named_in_the_checkout_is_not_run(repository: Path) -> None:
    script = repository / "run.sh"
    script.write_text(f"#!/bin/sh\ntouch {repository}/was-run\n")
    script.chmod(0o755)
    git(repository, "config", "core.fsmonitor", str(script))
    write(repository, "b.py", content=b"def g(): pass\n")
    assert checkout.open_checkout(repository).commit_of("b.py") is None
    assert not (repository / "was-run").exists()


def test_a_git_dir_of_the_environment_is_not_that_of_the_folder(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "plain", "x.py")
    monkeypatch.setenv("GIT_DIR", str(repository / ".git"))
    assert read(tmp_path / "plain") == (["x.py"], {})


def test_a_checkout_that_git_refuses_is_an_error_with_its_reason(repository: Path) -> None:
    (repository / ".git" / "config").write_text("[broken\n")
    with pytest.raises(UsageError, match=r"git cannot read it \(fatal: bad config"):
        checkout.open_checkout(repository)
    with pytest.raises(UsageError, match="no such folder; name a checkout's with --from"):
        checkout.open_checkout(repository / "nowhere")


def test_without_git_a_git_checkout_is_refused_and_a_plain_folder_is_walked(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "plain", "x.py")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="git is not installed"):
        checkout.open_checkout(repository / "a")
    assert read(tmp_path / "plain") == (["x.py"], {})


def test_symbolic_links_are_counted_and_never_followed(tmp_path: Path) -> None:
    write(tmp_path, "in/x.py")
    write(tmp_path.parent, "outside.py")
    (tmp_path / "in" / "loop").symlink_to(tmp_path)
    (tmp_path / "self.py").symlink_to("self.py")
    (tmp_path / "out.py").symlink_to(tmp_path.parent / "outside.py")
    (tmp_path / "again.py").symlink_to("in/x.py")
    assert read(tmp_path) == (["in/x.py"], {"symbolic link": 3})
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    assert read(tmp_path) == (["in/x.py"], {"symbolic link": 3})


def test_a_named_pipe_does_not_hang_the_reading(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "folder.py").mkdir()
    assert read(tmp_path) == ([], {"not a regular file": 1})


def test_a_name_that_is_not_utf8_is_counted(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.py")).write_bytes(CODE)
    assert read(tmp_path) == ([], {"name is not UTF-8": 1})


BUNDLE = b"function a(){return 1};" * 220_000
HEADERS = (
    b"// Code generated by protoc-gen-go. DO NOT EDIT.\npackage a\n",
    b"#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n# Generated by the protocol buffer compiler.  DO NOT EDIT!\nx = 1\n",
    b"/*\n * Copyright\n */\n\n/**\n * Autogenerated, @generated by hand\n */\nclass A {}\n",
    b"<?php\n// This file was automatically generated.\r\n// Please do not modify it.\r\n",
    b'"""Do not edit: this is\ngenerated from x."""\n',
)
WRITTEN = (
    b'x = "@generated"\n',
    b"def f():\n    # Code generated by x. DO NOT EDIT.\n    pass\n",
    b"# Tests that passwords are generated well.\n",
    b"",
)


def test_vendored_generated_and_minified_files_are_left_out_by_default_and_counted(tmp_path: Path) -> None:
    write(tmp_path, "a.py", "vendors/of/goods.py", "venv/__init__.py", "distance.py", "src/generated_names.py")
    vendored = ["node_modules/x/i.py", "a/vendor/b.py", "a/third_party/c/d.py", "lib/site-packages/e.py"]
    generated = ["dist/f.py", "g_pb2.py", "h_pb2_grpc.py", "a/generated/i.py"]
    write(tmp_path, *vendored, *generated, "j.min.py")
    for number, header in enumerate(HEADERS):
        write(tmp_path, f"header{number}.py", content=header)
    for number, content in enumerate(WRITTEN):
        write(tmp_path, f"written{number}.py", content=content)
    write(tmp_path, "long.py", content=b"# short\n" + b"x = 1; " * 1000)
    found, left_out = read(tmp_path)
    assert left_out == {"vendored": 4, "generated": 4 + len(HEADERS), "minified": 2}
    assert len(found) == 5 + len(WRITTEN)
    found, left_out = read(tmp_path, include_vendored=True)
    assert left_out == {}
    assert set(vendored + generated) < set(found)


def test_a_vendored_folder_that_is_asked_for_by_name_is_read(tmp_path: Path) -> None:
    write(tmp_path, "vendor/x/a.py", "vendor/x/vendor/b.py")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    assert read(tmp_path / "vendor/x") == (["vendor/x/a.py"], {"vendored": 1})


def test_a_bundle_of_one_line_is_minified_and_too_large_whatever_is_asked_for(tmp_path: Path) -> None:
    write(tmp_path, "bundle.py", content=BUNDLE)
    assert len(BUNDLE) > 5_000_000
    assert read(tmp_path) == ([], {"minified": 1})
    assert read(tmp_path, include_vendored=True) == ([], {"larger than 2 MB": 1})


def test_what_no_parser_can_read_in_good_time_stays_out(tmp_path: Path) -> None:
    write(tmp_path, "lines.py", content=b"x = 1\n" * 400_000)
    write(tmp_path, "binary.py", content=b"\x7fELF\0\n")
    write(tmp_path, "utf16.py", content="x = 1\n".encode("utf-16"))
    write(tmp_path, "deep.py", content=b"(\n" * 10_001)
    write(tmp_path, "wide.py", content=b"()\n" * 10_001)
    counted = {"larger than 2 MB": 1, "binary": 1, "brackets nested too deeply": 1}
    assert read(tmp_path) == (["utf16.py", "wide.py"], counted)


PARTS = ("#", "/*", "*/", '"""', "'''", "\n", "\n\n", " ", "//", "<?php", "x", "generated", "do not edit")


@given(st.lists(st.sampled_from(PARTS)))
def test_only_what_stands_before_the_first_line_of_code_is_a_header(parts: list[str]) -> None:
    text = "".join(parts * 20).encode() + b"\n" * 200
    assert checkout._by_content(b"x = 1\n" * 100 + text) is None
    assert checkout._by_content(b"# generated by x, do not edit\n" * 50 + text) == "generated"
