"""Sends hostile frames to a serving site, and asks after each of them whether the socket still works.

python -m tests.nightly.hostile_frames --frames 10000
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from chat.broadcast.client_frames import CLIENT_FRAMES
from chat.broadcast.error_codes import ERRORS
from tests.serving import Site, new_chat, page, serving, sign_in

# Fewer than the site lets through in ten seconds: a socket more costs less than waiting.
FRAMES_PER_SOCKET = 14
LARGEST = 256 * 1024  # bytes of a frame
AT_ONCE = 8
ODD = [
    "",
    "\0",
    "\ud800",
    "\u2028",
    "😀" * 50,
    "\u202eevil",
    "<script>alert(1)</script>",
    "'; DROP TABLE x; --",
    "../x",
]
NUMBERS = [0, -1, 1.5, 2**31, 2**53, 2**63, 2**64, 10**400, float("nan"), float("inf"), True]
FIELDS = ["client_id", "text", "parent", "model", "message", "on", "call", "seq", "__class__", "type"]

Make = Callable[[random.Random], str | bytes]


def text(chance: random.Random) -> str:
    long = "x" * chance.choice([299, 300, 301, 65_536, 65_537])
    return chance.choice([*ODD, "ok", long, "".join(chr(chance.randrange(0xD7FF)) for _ in range(20))])


def value(chance: random.Random, depth: int = 3) -> Any:
    if depth and chance.random() < 0.2:
        inner = [value(chance, depth - 1) for _ in range(chance.randrange(3))]
        return inner if chance.random() < 0.5 else {text(chance)[:20]: part for part in inner}
    return chance.choice([None, False, text(chance), chance.choice(NUMBERS)])


def shaped(chance: random.Random) -> str:
    """A known type with fields that may be anything."""
    kind = chance.choice([*CLIENT_FRAMES, "question.answer", "turn.continue", "hello", ""])
    names = chance.sample(FIELDS, chance.randrange(5))
    return json.dumps({"type": kind} | {name: value(chance) for name in names if name != "type"})


def nearly_right(chance: random.Random) -> str:
    """A frame that is in order but for what it names."""
    frame = chance.choice(
        [
            {"type": "message.send", "client_id": text(chance), "text": text(chance), "parent": value(chance)},
            {"type": "model.select", "client_id": "c", "model": text(chance)},
            {"type": "turn.resync", "message": chance.choice(NUMBERS)},
            {"type": "call.stop", "call": text(chance)},
            {"type": "call.repeat", "call": text(chance)},
            {"type": "tools.switch", "on": value(chance)},
            {"type": "turn.stop"},
        ]
    )
    return json.dumps(frame)


def torn(chance: random.Random) -> str:
    whole = nearly_right(chance)
    at = chance.randrange(len(whole))
    return whole[:at] + chance.choice(["", "\\", '"', "}", "\0", whole]) + whole[at + chance.randrange(3) :]


def odd_json(chance: random.Random) -> str:
    size = chance.choice([10, 1000, 100_000])
    return chance.choice(
        [
            "[" * size,
            '{"a":' * (size // 5),
            "1" * size,
            '{"type":"ping","type":"turn.stop"}',
            "[]",
            "null",
            "NaN",
            '"ping"',
            " " * size,
            '{"type":"ping"}' * 2,
            '{"type":"turn.resync","message":' + "9" * min(size, 5000) + "}",
            '{"type":"message.send","client_id":"\\ud800","text":"\\udfff"}',
            "\ufeff" + '{"type":"ping"}',
        ]
    )


def binary(chance: random.Random) -> bytes:
    return chance.choice([b"", chance.randbytes(64), b'{"type":"ping"}', b"\xff\xfe" * 1000])


MAKERS: list[Make] = [shaped, nearly_right, torn, odd_json, binary]


async def one_socket(site: Site, client: httpx.Client, conversation: str, sent: list[str | bytes]) -> Counter[str]:
    """Send the frames, each followed by a ping; gives the codes of the errors. Raises where no pong comes."""
    async with page(site, client, conversation) as open_page:
        await open_page.until("hello")
        for frame in sent:
            if isinstance(frame, bytes):
                await open_page.ws.send_bytes(frame)
            else:
                await open_page.ws.send_str(frame)
            await open_page.send("ping")
            await open_page.until("pong")
    return Counter(frame["code"] for frame in open_page.of("error"))


async def torment(site: Site, client: httpx.Client, frames: int, seed: int) -> Counter[str]:
    """So many hostile frames; gives the codes of all errors. Raises where a socket did not survive."""
    chance = random.Random(seed)
    codes: Counter[str] = Counter()
    chats = [new_chat(client) for _ in range(AT_ONCE)]

    async def work(conversation: str, share: int) -> None:
        for begin in range(0, share, FRAMES_PER_SOCKET):
            size = min(FRAMES_PER_SOCKET, share - begin)
            sent = [sendable(chance.choice(MAKERS)(chance)) for _ in range(size)]
            codes.update(await one_socket(site, client, conversation, sent))

    shares = [frames // AT_ONCE + (number < frames % AT_ONCE) for number in range(AT_ONCE)]
    await asyncio.gather(*map(work, chats, shares))
    return codes


def sendable(frame: str | bytes) -> str | bytes:
    """A text frame can only hold what UTF-8 can; one that is too large closes the socket, which is shown elsewhere."""
    return frame if isinstance(frame, bytes) else frame.encode(errors="replace")[:LARGEST].decode(errors="ignore")


def complaints(site: Site) -> str:
    """What the site wrote into its log about it."""
    lines = (site.directory / "serve.log").read_text().splitlines()
    return "\n".join(line for line in lines if " ERROR " in line or " WARNING " in line or "Traceback" in line)


def run(frames: int, seed: int) -> tuple[Counter[str], str]:
    with TemporaryDirectory() as directory, serving(Path(directory)) as site, closing(sign_in(site)) as client:
        return asyncio.run(torment(site, client, frames, seed)), complaints(site)


if __name__ == "__main__":
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--frames", type=int, default=10_000)
    given.add_argument("--seed", type=int, default=0)
    chosen = given.parse_args()
    found, log = run(chosen.frames, chosen.seed)
    untyped = {code: number for code, number in found.items() if code not in ERRORS or code == "internal"}
    print(f"{chosen.frames:,} frames, every socket usable after each; errors by code: {dict(found)}")
    print(f"not typed: {untyped or 0}; the log says: {log or 'nothing'}")
