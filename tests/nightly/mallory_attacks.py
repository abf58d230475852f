"""Sends the worst texts to a site with ordinary accounts and one key, as a process of its own.

python -m tests.nightly.mallory_attacks reads {site, people, key, seconds, sockets} from standard input, prints a line
when its sockets are open, and at the end what the site answered, as JSON.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import aiohttp

from tests.hostile_texts.units import UNITS, text

TEXT = 60_000
ITEMS = [{"x": -1}] * 20_000
NESTED = json.loads('{"a":' * 30 + "{}" + "}" * 30)
SELF = {"$ref": "#"}
# (properties of a tool, arguments of the call that the model makes)
SCHEMAS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"properties": {f"p{n}": {"pattern": f"^(a|b{n}){{1,50}}$"} for n in range(2000)}}, {"p1": "c"}),
    ({"properties": {"a": {"items": {"enum": [{"x": n} for n in range(5000)]}}}}, {"a": ITEMS}),
    ({"properties": {"a": {"items": {"anyOf": [{"const": n} for n in range(2000)]}}}}, {"a": ITEMS}),
    ({"properties": {"a": {"items": {"type": "integer"}}}}, {"a": ITEMS}),
    ({"properties": {"a": {"pattern": "^(a|b)*a(a|b){400}c$"}}}, {"a": "ab" * 100_000}),
    ({"properties": {"a": {"pattern": r"^(?:(a+)+)\1$"}}}, {"a": "a" * 50_000 + "b"}),
    ({"allOf": [{"properties": {"a": SELF}}] * 3}, NESTED),
]


def told(**wish: Any) -> list[dict[str, Any]]:
    return [{"role": "user", "content": json.dumps(wish)}]


def bodies(chance: random.Random) -> Iterator[bytes]:
    """Yield bodies for the gateway without an end."""
    for schema, arguments in itertools.cycle(SCHEMAS):
        # A schema that nobody compiled before.
        fresh = {"type": "object", "title": str(chance.random())} | schema
        tool = {"type": "function", "function": {"name": "note", "parameters": fresh}}
        call = told(call={"name": "note", "arguments": arguments}, times=8)
        yield json.dumps({"model": "worst", "messages": call, "tools": [tool]}).encode()
        worst = text(chance.choice(UNITS), TEXT)
        small = {"type": "function", "function": {"name": "note"}}
        for asked in (told(text=worst), told(error=worst), [{"role": "user", "content": worst}]):
            yield json.dumps({"model": "worst", "messages": asked, "tools": [small]}).encode()
        yield worst.encode(errors="replace")


class Attack:
    """The open sockets and requests of one run."""

    def __init__(self, given: dict[str, Any], session: aiohttp.ClientSession) -> None:
        self.given, self.session = given, session
        self.answers: Counter[str] = Counter()
        self.until = 0.0

    async def program(self, seed: int) -> None:
        headers = {"Authorization": f"Bearer {self.given['key']}", "Content-Type": "application/json"}
        for body in bodies(random.Random(seed)):
            if time.monotonic() > self.until:
                return
            async with self.session.post(
                f"{self.given['site']}/v1/chat/completions", data=body, headers=headers
            ) as got:
                code = (await got.json())["error"]["code"] if got.status >= 400 else ""
                self.answers[f"/v1 {got.status} {code}".strip()] += 1

    async def reader(self, person: dict[str, Any], seed: int) -> None:
        """Ask pages with the worst words."""
        chance, cookies = random.Random(seed), {"sessionid": person["cookie"]}
        while time.monotonic() < self.until:
            words = text(chance.choice(UNITS), 1000).encode(errors="replace").decode()
            for path in ("/chat/list/", "/history/", "/models/"):
                query = {"q": words, "model": words[:50], "from": words[:20]}
                address = f"{self.given['site']}{path}"
                async with self.session.get(address, params=query, cookies=cookies) as got:
                    await got.read()
                    self.answers[f"pages {got.status}"] += 1

    async def sender(self, socket: aiohttp.ClientWebSocketResponse, seed: int) -> None:
        """Send messages with the worst texts, and frames that are none."""
        chance = random.Random(seed)
        await socket.send_json({"type": "model.select", "client_id": "m", "model": "worst"})
        while time.monotonic() < self.until and not socket.closed:
            worst = text(chance.choice(UNITS), TEXT).encode(errors="replace").decode()[: TEXT // 4]
            for words in (worst, json.dumps({"text": worst})[:50_000]):
                frame = {"type": "message.send", "client_id": str(chance.random()), "text": words}
                await socket.send_json(frame)
                await socket.send_str(worst)
                await asyncio.sleep(1)  # 30 frames in 10 s are permitted

    async def listener(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        async for message in socket:
            if message.type == aiohttp.WSMsgType.TEXT:
                frame = json.loads(message.data)
                self.answers[f"socket {frame['type']} {frame.get('code', '')}".strip()] += 1

    async def open(self, person: dict[str, Any]) -> aiohttp.ClientWebSocketResponse:
        headers = {"Origin": self.given["site"], "Cookie": f"sessionid={person['cookie']}"}
        address = f"{self.given['site']}/ws/chat/{person['conversation']}/"
        return await self.session.ws_connect(address, headers=headers, max_msg_size=0)


async def attack(given: dict[str, Any]) -> dict[str, int]:
    timeout = aiohttp.ClientTimeout(total=120)
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(
        timeout=timeout, connector=connector, cookie_jar=aiohttp.DummyCookieJar()
    ) as session:
        run, people = Attack(given, session), given["people"]
        sockets = [await run.open(people[number % len(people)]) for number in range(given["sockets"])]
        listening = [asyncio.create_task(run.listener(socket)) for socket in sockets]
        print("open", flush=True)
        run.until = time.monotonic() + given["seconds"]
        work = [run.program(seed) for seed in range(4)] + [run.reader(person, 7) for person in people]
        work += [run.sender(socket, seed) for seed, socket in enumerate(sockets[: len(people)])]
        done = await asyncio.gather(*work, return_exceptions=True)
        run.answers.update(f"{type(one).__name__}" for one in done if isinstance(one, Exception))
        for task in listening:
            task.cancel()
        await asyncio.gather(*listening, return_exceptions=True)
        for socket in sockets:
            await socket.close()
    return dict(run.answers)


if __name__ == "__main__":
    print(json.dumps(asyncio.run(attack(json.loads(sys.stdin.readline())))), flush=True)
