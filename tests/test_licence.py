"""SPDX ids of licence texts and of the files under them."""

import pytest

from pools._checkouts import licence
from tests.builders.places import ROOT
from tests.builders.repositories import MIT

APACHE = (ROOT / "LICENSE").read_text(encoding="utf-8")


def test_texts_are_identified_and_never_guessed() -> None:
    assert licence.identify([MIT]) == "MIT"
    assert licence.identify([MIT.replace("\n", " ").upper()]) == "MIT"
    assert licence.identify([APACHE]) == "Apache-2.0"
    assert licence.identify([APACHE, APACHE]) == "Apache-2.0"
    assert licence.identify(["This project is under the MIT license.", ""]) is None
    assert licence.identify([]) is None


def test_the_notice_at_the_end_of_the_gpl_is_no_second_licence() -> None:
    assert licence._only({"GPL-3.0", "GPL-3.0-or-later"}) == "GPL-3.0"
    assert licence._only({"GPL-3.0-or-later"}) == "GPL-3.0-or-later"
    assert licence._only({"GPL-3.0", "LGPL-3.0"}) is None


def test_several_licences_are_no_single_id() -> None:
    assert licence.identify([MIT, APACHE]) is None
    assert licence.identify([MIT + "\n\n" + APACHE]) is None


@pytest.mark.parametrize(
    "name",
    [
        "LICENSE", "LICENCE", "license.txt", "License.md", "COPYING", "COPYING.LESSER", "LICENSE-MIT", "LICENSE.APACHE",
        "MIT-LICENSE", "MIT-LICENSE.txt", "UNLICENSE", "LICENSE-2.0.txt", "GPL_LICENSE",
    ],
)  # fmt: skip
def test_names_of_licence_files(name: str) -> None:
    assert licence.is_licence_file(name)


@pytest.mark.parametrize(
    "name", ["license.py", "licenses", "LICENSE.go", "copying.rb", "sublicense.txt", "README", "relicensed"]
)
def test_names_that_are_none(name: str) -> None:
    assert not licence.is_licence_file(name)


def test_the_nearest_licence_file_above_counts() -> None:
    by_folder = {"": "MIT", "vendor/x": "Apache-2.0", "vendor/y": None}
    assert licence.of_file("a.py", b"", by_folder=by_folder) == "MIT"
    assert licence.of_file("a/b/c.py", b"", by_folder=by_folder) == "MIT"
    assert licence.of_file("vendor/x/d/e.py", b"", by_folder=by_folder) == "Apache-2.0"
    assert licence.of_file("vendor/y/d/e.py", b"", by_folder=by_folder) is None
    assert licence.of_file("vendor/xx/e.py", b"", by_folder=by_folder) == "MIT"
    assert licence.of_file("a.py", b"", by_folder={}) is None


@pytest.mark.parametrize(
    ("line", "spdx"),
    [
        ("# SPDX-License-Identifier: BSD-3-Clause", "BSD-3-Clause"),
        ("/* SPDX-License-Identifier: GPL-2.0-or-later */", "GPL-2.0-or-later"),
        ("// spdx-license-identifier: GPL-2.0+\r", "GPL-2.0+"),
        ("<!-- SPDX-License-Identifier: Zlib -->", "Zlib"),
        ("# SPDX-License-Identifier: MIT OR Apache-2.0", None),
        ("# SPDX-License-Identifier: LicenseRef-Ours", None),
        ("# SPDX-License-Identifier:", None),
        ('x = "SPDX-License-Identifier: Zlib"', "MIT"),
        ("# no tag", "MIT"),
    ],
)
def test_the_files_own_tag_wins(line: str, spdx: str | None) -> None:
    assert licence.of_file("a.py", f"#!/bin/sh\n{line}\nx = 1\n".encode(), by_folder={"": "MIT"}) == spdx
