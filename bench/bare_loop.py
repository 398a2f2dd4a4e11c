"""The loop that anybody would write first, as a measure: the same pairs through AsyncOpenAI and a semaphore, nothing kept."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import openai
from tqdm.asyncio import tqdm

PROMPT = "Rate how well each function answers its search, 0-3, as JSON {{ratings: [{{id, rating}}]}}.\n\n{pairs}"


async def main(url: str, pairs: list[list[str]], *, size: int, concurrency: int, transport: str) -> None:
    http: dict[str, Any] = {"http_client": openai.DefaultAioHttpClient()} if transport == "aiohttp" else {}
    client = openai.AsyncOpenAI(base_url=url, api_key="none", **http)
    semaphore = asyncio.Semaphore(concurrency)

    async def rate(start: int) -> list[dict[str, Any]]:
        shown = [f"[b{n:07}] search: {search}\n<code b{n:07}>\n{code}\n</code b{n:07}>"
                 for n, (search, code) in enumerate(pairs[start : start + size])]  # fmt: skip
        async with semaphore:
            reply = await client.chat.completions.create(
                model="m", temperature=0, messages=[{"role": "user", "content": PROMPT.format(pairs="\n\n".join(shown))}]
            )
        return list(json.loads(reply.choices[0].message.content or "")["ratings"])

    ratings = await tqdm.gather(*(rate(start) for start in range(0, len(pairs), size)), disable=None)
    if sum(map(len, ratings)) != len(pairs):
        sys.exit("not every pair was rated")


if __name__ == "__main__":
    rows = [json.loads(line) for line in Path(sys.argv[2]).read_text(encoding="utf-8").splitlines()]
    asyncio.run(main(sys.argv[1], rows, size=int(sys.argv[3]), concurrency=int(sys.argv[4]), transport=sys.argv[5]))
