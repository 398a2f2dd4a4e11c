"""The client against a real server: what it sends, what it makes of faults, and what it stops for."""

import asyncio
import json
from typing import Any

import pytest

from judge._endpoint.answer import Answer
from judge._endpoint.client import Client, Filtered, TooLong, Unanswered, Unfit, Usage
from pools.errors import Stopped, UsageError
from tests.builders.fake_api import ERRORS, FakeApi, Response, Script
from tests.builders.judging import QuickClock
from tests.builders.letters import Body, letters, serve, sound

SCHEMA = {"type": "object"}


def ask(fake: FakeApi, *prompts: str, clock: QuickClock | None = None, **further: Any) -> list[Answer | BaseException]:
    """Ask all prompts at once, and return what came of each."""

    async def all_of_them() -> list[Answer | BaseException]:
        settings: dict[str, Any] = {"sampling": {"temperature": 0.0, "max_tokens": 50}, "timeout": 1.0} | further
        async with Client(fake.url, "sk-secret", model="m", clock=clock or QuickClock(), **settings) as client:
            return await asyncio.gather(*(client.ask(prompt, SCHEMA) for prompt in prompts), return_exceptions=True)

    return asyncio.run(all_of_them())


def test_what_is_sent_and_what_comes_back() -> None:
    with FakeApi(chat=lambda prompt: f"you said {prompt}") as fake:
        (answer,) = ask(fake, "Hello there")
        assert answer == Answer("you said Hello there", "stop", "m-2026", Usage(2, 0, 3))
        body = fake.requests[0].body
    assert body == {
        "model": "m",
        "messages": [{"role": "user", "content": "Hello there"}],
        "temperature": 0.0,
        "max_tokens": 50,
        "response_format": {"type": "json_schema", "json_schema": {"name": "ratings", "strict": True, "schema": SCHEMA}},
    }


@pytest.mark.parametrize(
    "fault", ["429", "429-seconds", "500", "503-html", "hang", "drop", "no-json", "error-in-200", "no-choices", "cut-body"]
)
def test_a_fault_that_passes_is_waited_for(fault: str) -> None:
    clock = QuickClock()
    with FakeApi(Script(fault, fault, None)) as fake:
        (answer,) = ask(fake, "Hello", clock=clock, timeout=0.3)
    assert isinstance(answer, Answer)
    assert answer.text == "ok"
    assert len(clock.waits) == 2
    first, second = clock.waits
    assert first >= (7 if fault == "429-seconds" else 0.25)
    assert second >= (7 if fault == "429-seconds" else 0.5)


def test_a_retry_after_that_is_a_date_is_obeyed() -> None:
    clock = QuickClock()
    with FakeApi(Script("429-date", None)) as fake:
        ask(fake, "Hello", clock=clock)
    assert 29 < clock.waits[0] < 31


@pytest.mark.parametrize(
    ("fault", "remedy"),
    [
        ("401", "the key is not accepted; set OPENAI_API_KEY"),
        ("402", "add credit"),
        ("403", "may not use 'm'"),
        ("404", "no model 'm' there; check --model and --base-url"),
        ("quota", "the account has no quota left; add credit"),
        ("429-later", "it asks to wait 7200 seconds"),
        ("echo-key", "no tea for"),
    ],
)
def test_what_does_not_pass_stops_at_once_with_the_remedy(fault: str, remedy: str) -> None:
    with FakeApi(Script(fault)) as fake:
        (error,) = ask(fake, "Hello")
        assert len(fake.requests) == 1
    assert isinstance(error, Stopped)
    assert error.exit_code == 4
    assert remedy in str(error)
    assert "sk-secret" not in str(error)


def test_one_that_stops_ends_the_waits_of_all() -> None:
    with FakeApi(Script("401", *["500"] * 3)) as fake:
        results = ask(fake, *["Hello"] * 4, concurrency=4)
    assert sorted(type(result).__name__ for result in results) == ["Drained", "Drained", "Drained", "Stopped"]


@pytest.mark.parametrize(
    ("fault", "kind"), [("overflow", TooLong), ("filter", Filtered), ("400", Unfit), ("shortened", TooLong)]
)
def test_what_only_fewer_pairs_can_mend_is_told_apart(fault: str, kind: type[Unfit]) -> None:
    with FakeApi(Script(fault)) as fake:
        (error,) = ask(fake, "some words of a prompt. " * 100)
    assert type(error) is kind
    assert error.reason
    assert (error.answer is not None) == (fault == "shortened")


def test_an_endpoint_that_refuses_everything_is_not_asked_for_ever() -> None:
    with FakeApi(Script(*["400"] * 8)) as fake:
        results = ask(fake, *["Hello"] * 8, concurrency=1)
    assert sorted(type(result).__name__ for result in results) == ["Stopped", *["Unfit"] * 7]


def test_a_prompt_that_fails_while_others_are_answered_is_given_back() -> None:
    with FakeApi(instead=lambda path: ERRORS["500"]() if path == "/v1/nowhere" else None) as fake:

        async def both() -> BaseException | None:
            async with Client(fake.url, "k", model="m", sampling={}, concurrency=1, timeout=1.0, clock=QuickClock()) as client:
                bad = asyncio.create_task(client.send(lambda: refuse(client)))
                while not bad.done():
                    await client.ask("fine")
                return bad.exception()

        async def refuse(client: Client) -> dict[str, Any]:
            return await client.post("/nowhere", {})

        error = asyncio.run(both())
    assert isinstance(error, Unanswered)
    assert "HTTP 500" in error.reason


def test_an_endpoint_that_is_down_stops_the_run() -> None:
    clock = QuickClock()
    with FakeApi(lambda _: "500") as fake:
        (error,) = ask(fake, "Hello", clock=clock)
    assert isinstance(error, Stopped)
    assert "HTTP 500: The server had an error" in str(error)
    assert len(clock.waits) == 6
    assert clock.waits == sorted(clock.waits)


def test_an_endpoint_that_has_answered_is_waited_for_longer() -> None:
    clock = QuickClock()
    with FakeApi(lambda number: "500" if number else None) as fake:
        answer, error = ask(fake, "Hello", "Hello", clock=clock, concurrency=1)
    assert isinstance(answer, Answer)
    assert isinstance(error, Stopped)
    assert len(clock.waits) == 12
    assert clock.waits[:7] == sorted(clock.waits[:7])
    assert all(30 <= wait <= 66 for wait in clock.waits[-4:]), "the longest wait, less or more its jitter"


def test_nobody_there_stops_the_run() -> None:
    with FakeApi() as fake:
        pass
    (error,) = ask(fake, "Hello")
    assert isinstance(error, Stopped)
    assert "no connection" in str(error)


@pytest.mark.parametrize("refused", [("temperature",), ("max_tokens",), ("json_schema",), ("json_schema", "json_object"),
                                     ("temperature", "max_tokens", "max_completion_tokens", "response_format")])  # fmt: skip
def test_what_an_endpoint_does_not_take_is_left_out_from_then_on(refused: tuple[str, ...]) -> None:
    with FakeApi(refuses=refused) as fake:
        results = ask(fake, *["Hello"] * 3, concurrency=1)
        last = [asked.body for asked in fake.requests[-2:]]
        count = len(fake.requests)
    assert all(isinstance(result, Answer) for result in results)
    for body in last:
        assert not set(refused) & {*body, body.get("response_format", {}).get("type")}
        assert ("max_completion_tokens" in body) == (refused == ("max_tokens",))
    # Each was refused once or, for the way to ask for JSON, once a way; after that no request was in vain.
    assert count == 3 + len(refused) + ("response_format" in refused)


def test_workers_that_are_refused_together_leave_it_out_once() -> None:
    with FakeApi(refuses=["temperature"], latency=0.05) as fake:
        results = ask(fake, *["Hello"] * 6, concurrency=6)
        bodies = [asked.body for asked in fake.requests[-6:]]
    assert all(isinstance(result, Answer) for result in results)
    assert all("max_tokens" in body and "response_format" in body and "temperature" not in body for body in bodies)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ftp://x", "k", "m"), "no http:// or https:// address"),
        (("http://api.example.org/v1", "", "m"), "OPENAI_API_KEY is not set"),
        (("http://api.example.org/v1", "k\n", "m"), "characters that no key has"),
        (("http://api.example.org/v1", "k", ""), "no model is named"),
    ],
)
def test_what_cannot_be_used_is_said_before_anything_is_sent(arguments: tuple[str, str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Client(*arguments[:2], model=arguments[2], sampling={})


def test_a_loopback_endpoint_needs_no_key() -> None:
    assert Client("http://127.0.0.1:1/v1", "", model="m", sampling={}).model == "m"


@pytest.mark.parametrize(
    ("choice", "text", "reason"),
    [
        ({"message": {"content": None, "refusal": "I can't"}, "finish_reason": "stop"}, "I can't", "stop"),
        ({"message": {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}}, "ab", None),
        ({"message": {"content": None}, "finish_reason": "content_filter"}, "", "content_filter"),
        ({"message": {"content": 3}, "finish_reason": 3}, "", None),
    ],
)
def test_replies_of_many_shapes_are_read(choice: dict[str, Any], text: str, reason: str | None) -> None:
    (answer,) = ask_raw({"choices": [choice], "usage": {"prompt_tokens": True, "cost": "free"}})
    assert isinstance(answer, Answer)
    assert (answer.text, answer.finish_reason, answer.model, answer.cost) == (text, reason, "m", None)


def test_the_cost_that_an_endpoint_tells_is_kept() -> None:
    document = {"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": 5, "cost": 0.25}, "model": "z"}
    (answer,) = ask_raw(document)
    assert answer == Answer("x", None, "z", Usage(5, 0, 0), 0.25)


def ask_raw(document: dict[str, Any]) -> list[Answer | BaseException]:
    with FakeApi(instead=lambda _: Response(200, json.dumps(document).encode())) as fake:
        return ask(fake, "Hello")


def embed(url: str, *texts: str) -> list[list[float]]:
    async def once() -> list[list[float]]:
        async with Client(url, "sk-secret", model="m", sampling={}, clock=QuickClock(), timeout=5.0) as client:
            return await client.embed(texts)

    return asyncio.run(once())


def test_vectors_come_in_the_order_of_the_texts() -> None:
    with serve(sound) as server:
        assert embed(server.url, "abc", "zz\ud800") == [letters("abc"), letters("zz")]
    assert server.asked == [("/v1/embeddings", {"model": "m", "input": ["abc", "zz\ufffd"]})]


@pytest.mark.parametrize(
    "spoilt",
    [
        (500, {"error": {"message": "oh"}}),
        (429, {"error": {"message": "slow down"}}),
        (200, {"data": []}),
        (200, {"data": [{"index": 0, "embedding": None}]}),
        (200, {"data": [{"index": 1, "embedding": [1.0]}]}),
        (200, {"data": "none"}),
    ],
)
def test_faults_that_pass_are_asked_again(spoilt: tuple[int, Body]) -> None:
    with serve(lambda number, body: spoilt if number < 2 else sound(number, body)) as server:
        assert embed(server.url, "abc") == [letters("abc")]
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("status", "document", "message"),
    [
        (401, {"error": {"message": "bad key sk-secret"}}, r"the key is not accepted"),
        (404, {"error": {"message": "no such model"}}, r"no model 'm' there"),
        (400, {"error": {"message": "input is too long"}}, r"input is too long"),
        (422, {"error": {"message": "unknown field"}}, r"unknown field"),
        (200, {"data": []}, r"a reply without a vector for each text"),
    ],
)
def test_what_does_not_pass_stops_with_the_reason(status: int, document: Body, message: str) -> None:
    with serve(lambda _number, _body: (status, document)) as server, pytest.raises(Stopped, match=message) as stopped:
        embed(server.url, "abc")
    assert "sk-secret" not in str(stopped.value)
