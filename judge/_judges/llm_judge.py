"""The LLM as a judge: its identity, and batches put to it through the client."""

from dataclasses import replace

from judge._batching import batches
from judge._batching.batches import Batch
from judge._endpoint.answer import Answer
from judge._endpoint.client import Client
from judge._judges.identity import Identity


class LlmJudge:
    """A judge that sends each batch to an endpoint as one prompt."""

    def __init__(self, identity: Identity, client: Client) -> None:
        self.identity = identity
        self.client = client

    async def answer(self, batch: Batch) -> Answer:
        """Return the reply to a batch; raises what `Client.ask` does."""
        shown = batches.render(batch, self.identity)
        answer = await self.client.ask(shown.text, batches.reply_schema(batch, self.identity.scale))
        return replace(answer, redacted=sum(shown.redacted.values())) if shown.redacted else answer

    def drain(self) -> None:
        self.client.drain()
