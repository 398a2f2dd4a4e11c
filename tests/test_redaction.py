"""Redaction: secrets are masked, code is not, lines stay lines, and masking twice is masking once."""

import asyncio
import re
import subprocess
import sys
import warnings
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judge._batching import batches, redaction
from judge._batching.batches import Batch, Item
from judge._batching.redaction import mask
from judge._endpoint.answer import Answer
from judge._endpoint.client import Client
from judge._judges.identity import Identity
from judge._judges.llm_judge import LlmJudge
from pools._dataset import dataset
from prompts import scales, templates
from tests.builders.places import ROOT

# Made up here, in pieces, so that no scanner takes this file for a leak.
KEY_LINE = "MIIEowIBAAKCAQEAx7bq" + "Qk3vJ9mZtY5sW1uN8rP2" + "dL6hF4gC0aXeTbRiOwSy" + "Kz1D"
AWS = "AKI" + "AQ3EGLMPTXW7Z2B4C"
GITHUB = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
WEB_TOKEN = "ey" + "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"

SECRETS = [
    (f'key = "{AWS}"', AWS, "AWS Access Key"),
    ('aws_secret_key = "' + "wJalrXUtnFEMI/K7MDENG/" + 'bPxRfiCYzzSECRET01"', "bPxRfiCYzz", "AWS Access Key"),
    (f"headers = {{'Authorization': 'token {GITHUB}'}}", GITHUB, "GitHub Token"),
    ("token = 'github_" + "pat_11ABCDEFG0abcdefghijkl_MNOPQRSTUVWX'", "11ABCDEFG0", "GitHub Token"),
    (f'jwt = "{WEB_TOKEN}"', WEB_TOKEN, "JSON Web Token"),
    ('openai.api_key = "sk-' + "abcdefghij0123456789T3Blbk" + 'FJabcdefghij0123456789"', "T3Blbk", "OpenAI Token"),
    ("slack = 'xox" + "b-123456789012-1234567890123-AbCdEfGh'", "123456789012", "Slack Token"),
    ('db = "postgres://admin:hunter2@db.example.com/x"', "hunter2", "Basic Auth Credentials"),
    ("stripe.key = 'sk_" + "live_abcdefghijklmnopqrstuvwx'", "abcdefghijklmnopqrstuvwx", "Stripe Access Key"),
    ('client("AI' + 'zaSyA1234567890abcdefghijklmnopqrstuv")', "SyA1234567890", "Google API Key"),
    ("# Write to jane.doe+x@mail.example.org.", "jane.doe", redaction.E_MAIL),
    ('x = "<Jane@EXAMPLE.com>"', "Jane", redaction.E_MAIL),
]


@pytest.mark.parametrize(("code", "secret", "kind"), SECRETS, ids=[kind for _, _, kind in SECRETS])
def test_a_secret_is_masked_where_it_stands_and_counted_by_kind(code: str, secret: str, kind: str) -> None:
    text = f"def f():\n    {code}\n    return 1"
    found = mask(text)
    assert secret[-8:] not in found.text
    assert found.counts == {kind: 1}
    first, changed, last = found.text.split("\n")
    assert (first, last) == ("def f():", "    return 1")
    assert "<masked" in changed
    assert mask(found.text).counts == {}


INNOCENT = [
    "def send(user, host):\n    return f'https://{user}:{password}@{host}/'",
    'url = "https://%s:%s@%s" % (a, b, c)\nurl = "ftp://<user>:<password>@host"',
    "@app.route('/x')\n@Override\nimport x from '@angular/core'",
    "y = weights@x.transpose(0, 1)\nz = a@b[0]",
    "if line == '-----BEGIN PRIVATE KEY-----':\n    inside = 1\nelif line == '-----END PRIVATE KEY-----':\n    inside = 0",
    "a = '-----BEGIN PRIVATE KEY-----'\nb = readTheWholeOfThePrivateKeyFromThisFile(a, size, mode)\nif not b:\n"
    "    raise ValueError(a)\nc = '-----END PRIVATE KEY-----'",
    "sha = 'da39a3ee5e6b4b0d3255bfef95601890afd80709'\nuuid = '123e4567-e89b-12d3-a456-426614174000'",
    "a_very_long_function_name_that_is_only_a_name(MAXIMUM_NUMBER_OF_RETRIES_PER_REQUEST)",
    "password = 'hunter2'\ntoken = os.environ['TOKEN']",
    "self.awsclient.put_key('name', 'value'); APPLICATION = APIKEY",
    "ip = '10.0.0.1:8080'\nt = 12345678:",
]


@pytest.mark.parametrize("code", INNOCENT)
def test_code_without_a_secret_is_left_alone(code: str) -> None:
    assert mask(code).text == code
    assert mask(code).total == 0


def test_the_sample_holds_no_secret_but_examples_of_addresses() -> None:
    functions = dataset.load(ROOT / "pools" / "_sample", scales.load("relevance")).corpus or ()
    assert functions
    assert {kind for function in functions for kind in mask(function.code).counts} <= {redaction.E_MAIL}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", ["RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"])
def test_a_private_key_goes_as_a_block_and_its_lines_stay(name: str, end: str) -> None:
    block = end.join([f"-----BEGIN {name}-----", *[KEY_LINE] * 5, KEY_LINE[:20] + "==", f"-----END {name}-----"])
    code = f'key = """{block}""";{end}other()'
    found = mask(code)
    assert not re.search(r"[A-Za-z0-9+/]{21}", found.text)
    assert found.counts == {redaction.PRIVATE_KEY: 1}
    assert found.text.count("\n") == code.count("\n")
    assert found.text.count("\r") == code.count("\r")
    assert found.text.endswith("other()")


def test_a_private_key_in_pieces_or_without_an_end_goes_too() -> None:
    pieces = '"-----BEGIN EC PRIVATE KEY-----\\n" +\n' + "".join(f'    "{KEY_LINE}\\n" +\n' for _ in range(3))
    for code in (pieces + '    "-----END EC PRIVATE KEY-----"', pieces):
        found = mask(code)
        assert KEY_LINE not in found.text
        assert found.counts == {redaction.PRIVATE_KEY: 1}
        assert found.text.count("\n") == code.count("\n")


def test_what_hangs_on_to_a_secret_goes_with_it() -> None:
    found = mask(f"'{AWS}{AWS}-more'")
    assert found.text == "'<masked>'"
    assert found.counts == {"AWS Access Key": 1}


def test_several_of_a_kind_are_counted_each() -> None:
    assert mask(f"{AWS} {AWS}\n{GITHUB}\na@bc.de, f@gh.ij").counts == {
        "AWS Access Key": 2,
        "GitHub Token": 1,
        redaction.E_MAIL: 2,
    }


KNOWN = redaction._patterns()


@pytest.mark.parametrize("number", range(len(KNOWN)), ids=[f"{kind}-{number}" for number, (kind, _) in enumerate(KNOWN)])
@settings(max_examples=20, suppress_health_check=list(HealthCheck))
@given(data=st.data(), before=st.sampled_from(["", "x = '", '"']), after=st.sampled_from(["", "'", '" ']))
def test_no_text_that_a_pattern_finds_is_thought_harmless(number: int, data: st.DataObject, before: str, after: str) -> None:
    kind, pattern = KNOWN[number]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        token = data.draw(st.from_regex(pattern.pattern if not pattern.flags & re.VERBOSE else pattern, fullmatch=True))
    line = before + token.replace("\n", " ") + after
    if pattern.search(line) is None or (kind == redaction.PASSWORD_IN_URL and re.search(r"[{}<>%]", line)):
        return
    assert redaction._suspect(line)
    assert mask(f"a\n{line}\nb").total >= 1
    assert mask(f"a\n{line}\nb").text.startswith("a\n")


PIECES = st.sampled_from(
    [code for code, _, _ in SECRETS]
    + [AWS, GITHUB, "aws", "key", "secret", "token", '"', "'", "=", " ", "\n", "\r\n", "://", "u:p@", "@", ".com", "\ud800"]
    + [f"-----BEGIN PRIVATE KEY-----\n{KEY_LINE}\n", "-----END PRIVATE KEY-----", "-----", KEY_LINE, KEY_LINE[:40]]
    + ["cl_key", "AC" + "a1" * 16]
)
TEXTS = st.lists(PIECES | st.text(st.characters(exclude_categories=()), max_size=8), max_size=12).map("".join)


@settings(max_examples=300)
@given(text=TEXTS)
def test_masking_twice_is_masking_once_and_lines_stay(text: str) -> None:
    found = mask(text)
    again = mask(found.text)
    assert again.text == found.text
    assert again.total == 0
    assert found.text.count("\n") == text.count("\n")
    assert (found.text == text) == (found.total == 0)


@given(text=st.text(st.characters(exclude_characters="@-"), max_size=22))
def test_a_short_text_without_an_address_is_left_alone(text: str) -> None:
    assert mask(text).text == text


def test_the_prompt_shows_masks_and_tells_how_many_unless_told_not_to() -> None:
    batch = Batch.of([Item(("q", "f"), f"mail a@bc.de about {AWS}", f"key = '{AWS}'\nmail('x@yz.de')")])
    identity = Identity("m", templates.text("judge"), scales.load("relevance"), 1_000, 40, {})
    shown = batches.render(batch, identity)
    assert "key = '<masked>'\nmail('<masked e-mail>')" in shown.text
    assert shown.redacted == {"AWS Access Key": 1, redaction.E_MAIL: 1}
    assert f"search: mail a@bc.de about {AWS}" in shown.text
    open_identity = Identity("m", templates.text("judge"), scales.load("relevance"), 1_000, 40, {}, redact=False)
    assert f"key = '{AWS}'\nmail('x@yz.de')" in batches.prompt(batch, open_identity)
    assert batches.render(batch, open_identity).redacted == {}
    assert identity.judge_id != open_identity.judge_id


def test_the_answer_of_an_llm_tells_how_many_secrets_were_masked() -> None:
    sent = []

    class Endpoint:
        async def ask(self, prompt: str, _schema: dict[str, Any] | None) -> Answer:
            sent.append(prompt)
            return Answer("{}", "stop", "m")

    judge = LlmJudge(
        Identity("m", templates.text("judge"), scales.load("relevance"), 1_000, 40, {}), cast("Client", Endpoint())
    )
    batches_of = [Batch.of([Item(("q", "f"), "s", code)]) for code in (f"{AWS} {GITHUB} a@bc.de", "pass")]
    answers = [asyncio.run(judge.answer(batch)) for batch in batches_of]
    assert [answer.redacted for answer in answers] == [3, 0]
    assert AWS not in sent[0]


def test_a_secret_across_the_cut_is_masked_before_it_is_cut() -> None:
    batch = Batch.of([Item(("q", "f"), "s", "x" * 90 + f" '{AWS}'" + "y" * 100)])
    identity = Identity("m", templates.text("judge"), scales.load("relevance"), 105, 40, {})
    assert AWS[:8] not in batches.prompt(batch, identity)


def test_the_detector_is_not_even_imported_for_harmless_code() -> None:
    program = (
        "import sys; from judge._batching.redaction import mask; "
        "mask('def f(x):\\n    return x'); print('detect_secrets' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
