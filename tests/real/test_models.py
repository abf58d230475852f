"""The same tiny models on real servers: the findings of a test, and the results in a chat and in a program.

Each model recites, so what is right here follows from its script alone. On mlx-lm by day; on llama-server and Ollama
where LLAMA_SERVER and OLLAMA name the programs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.real.conftest import ARGUMENTS, CALL, HELLO
from tests.real.servers import Bench, Recited, Served
from tests.serving import ADMIN, ROOT, Site, new_chat, page, prepare, sign_in

pytestmark = pytest.mark.real_server

SEAT = "AAA-AAAA"  # what `same_chance.py` draws, as the ticket and as the seat
FINAL = f"There is a file called config.json in this folder, and a seat {SEAT}."
TICKET = json.dumps({"name": "lookup_ticket", "arguments": {"ticket": SEAT, "copies": 2}})
TEST = f"<tool_call>\n{TICKET}\n</tool_call>"
THOUGHTS = ("They greet me.", "I should look.", "Now I know.", "A ticket is wanted.")


def thinking(opening: str, template: str = "hermes") -> Recited:
    """A model that thinks before everything it writes."""
    plain, call, final, test = (
        f"{opening}{thought}\n</think>\n\n{words}"
        for thought, words in zip(THOUGHTS, (HELLO, CALL, FINAL, TEST), strict=True)
    )
    return Recited(plain, call, final, test, template)


MODELS = {
    "hermes": Recited(HELLO, CALL, FINAL, TEST),
    "hermes-in-text": Recited(HELLO, CALL, FINAL, TEST, "plain"),
    "no-tools": Recited(HELLO, HELLO[:-1] + "!", HELLO[:-1] + "?", template="plain"),
    "thinks": thinking("<think>\n"),
    "thinks-in-text": thinking("<think>\n", "plain"),
    "begins-thinking": thinking(""),
    "begins-thinking-in-text": thinking("", "plain"),
}
# What a test finds, where not every kind of server shows the same.
VERDICTS = {
    "hermes": "native",
    "hermes-in-text": "text",
    "no-tools": "ignored",
    "thinks": "native",
    "thinks-in-text": "text",
    "begins-thinking": "native",
    "begins-thinking-in-text": "text",
}
REFUSES = {"ollama": {"no-tools": "refused"}}
CALLING = [name for name in MODELS if name != "no-tools"]

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "list_directory",
            "description": "Lists the entries of a directory.",
            "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
        },
    }
]
QUESTION = {"role": "user", "content": "What's in this folder?"}


@dataclass(frozen=True)
class Tried:
    """A running site with the models of one kind of server, all of them tested."""

    kind: str
    site: Site
    admin: httpx.Client
    key: str
    models: dict[str, Served]
    verdicts: dict[str, dict[str, Any]]

    def row(self, name: str) -> str:
        """The id of a model's row."""
        [(row,)] = self.site.rows(
            "SELECT m.id FROM toolsupport_modelprofile m JOIN toolsupport_server s ON s.id = m.server_id"
            " WHERE s.name = ? AND m.name = ?",
            name,
            self.models[name].model,
        )
        return str(row)


def named(variable: str) -> Path:
    """The program that a variable of the environment names."""
    if not os.environ.get(variable):
        pytest.skip(f"{variable} names no program here")
    return Path(os.environ[variable]).resolve()


def detect(site: Site, name: str, model: str) -> dict[str, Any]:
    """Test a model; gives what the command prints."""
    command = [sys.executable, "-m", "tests.real.same_chance", "detect", model, "--server", name, "--json"]
    ran = subprocess.run(command, cwd=ROOT, env=site.environ(), capture_output=True, text=True)
    assert ran.stdout.startswith("{"), ran.stderr[-2000:]
    told: dict[str, Any] = json.loads(ran.stdout)
    return told


@pytest.fixture(
    scope="module", params=["mlx", "llama_server", pytest.param("ollama", marks=pytest.mark.nightly)], name="tried"
)
def _tried(
    request: pytest.FixtureRequest, mlx_python: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Tried]:
    kind = request.param
    program = mlx_python if kind == "mlx" else named(kind.upper())
    directory = tmp_path_factory.mktemp(kind)
    with ExitStack() as stack:
        started = getattr(Bench(mlx_python, program), kind)(stack, directory / "servers", MODELS)
        addresses = ",".join(f"{name}={server.kind}+{server.url}" for name, server in started.items())
        (directory / "site").mkdir()
        site = Site(directory / "site", {"TOOLSUPPORT_SERVERS": addresses})
        prepare(site)
        site.manage("refresh_models")
        verdicts = {name: detect(site, name, server.model) for name, server in started.items()}
        site.start()
        stack.callback(site.kill)
        admin = stack.enter_context(closing(sign_in(site)))
        key = site.manage("create_api_key", ADMIN[0]).strip()
        yield Tried(kind, site, admin, key, started, verdicts)


# D6, D8
@pytest.mark.parametrize("name", MODELS)
def test_a_test_finds_what_the_model_does(tried: Tried, name: str) -> None:
    found = tried.verdicts[name]
    expected = REFUSES.get(tried.kind, {}).get(name, VERDICTS[name])
    assert found["verdict"] == expected, json.dumps(found, indent=1)[:4000]
    assert found["detail"].get("format", "") == ("hermes" if expected == "text" else "")


# C1, F3
@pytest.mark.asyncio
@pytest.mark.parametrize("name", MODELS)
async def test_a_chat(tried: Tried, name: str) -> None:
    async with page(tried.site, tried.admin, new_chat(tried.admin)) as open_page:
        await open_page.until("hello")
        await open_page.send("model.select", model=tried.row(name))
        await open_page.send("message.send", text="What's in this folder?")
        ended = await open_page.until("turn.ended")
        assert ended["reason"] == "done", ended
        calls = [(call["name"], call["status"]) for call in (f["call"] for f in open_page.of("call.finished"))]
        words = [open_page.text(frame["message"]).strip() for frame in open_page.of("message.finished")]
        written = [frame["message"] for frame in open_page.of("message.finished")]
        thoughts = " ".join(open_page.text(message, "thinking") for message in written)
    thinks = "thinking" in name or "thinks" in name
    assert calls == ([("list_directory", "done")] if name in CALLING else [])
    assert words == (["", FINAL] if name in CALLING else [HELLO])
    assert thoughts.split() == (f"{THOUGHTS[1]} {THOUGHTS[2]}".split() if thinks else [])


# C4, F7: what one model wrote is sent to the other as it is used to it; native calls become text and text calls native.
@pytest.mark.asyncio
async def test_models_change_in_mid_chat(tried: Tried) -> None:
    order = ("hermes", "hermes-in-text", "no-tools", "hermes", "thinks-in-text")
    async with page(tried.site, tried.admin, new_chat(tried.admin)) as open_page:
        await open_page.until("hello")
        for name in order:
            await open_page.send("model.select", model=tried.row(name))
            await open_page.send("message.send", text="What's in this folder?")
            assert (await open_page.until("turn.ended"))["reason"] == "done", name
        formats = [frame["format"] for frame in open_page.of("turn.started")]
        calls = [(f["call"]["name"], f["call"]["status"]) for f in open_page.of("call.finished")]
        words = [open_page.text(frame["message"]).strip() for frame in open_page.of("message.finished")]
    assert formats == ["native", "hermes", "", "native", "hermes"]
    # Without tools nothing in the conversation looks like a result to a model.
    assert words == ["", FINAL, FINAL, HELLO, FINAL, FINAL]
    assert calls == [("list_directory", "done")]


def asked(tried: Tried, body: dict[str, Any]) -> dict[str, Any]:
    """What a program gets: the message, put together from the pieces where it is streamed."""
    headers = {"Authorization": f"Bearer {tried.key}"}
    address = f"{tried.site.url}/v1/chat/completions"
    answer = httpx.post(address, json=body, headers=headers, timeout=60, trust_env=False)
    assert answer.status_code == 200, answer.text
    if not body["stream"]:
        [choice] = answer.json()["choices"]
        return dict(choice["message"], finish_reason=choice["finish_reason"])
    whole: dict[str, Any] = {"content": "", "tool_calls": []}
    for line in answer.text.splitlines():
        if not line.startswith("data: {"):
            continue
        for choice in json.loads(line[6:])["choices"]:
            whole["content"] += choice["delta"].get("content") or ""
            whole["tool_calls"] += [piece for piece in choice["delta"].get("tool_calls", []) if "id" in piece]
            arguments = [piece["function"]["arguments"] for piece in choice["delta"].get("tool_calls", [])]
            whole["arguments"] = whole.get("arguments", "") + "".join(arguments)
            whole["finish_reason"] = choice["finish_reason"]
    for call in whole["tool_calls"]:
        call["function"]["arguments"] = whole["arguments"]
    return whole


# G2
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("name", MODELS)
def test_a_program_goes_two_rounds(tried: Tried, name: str, stream: bool) -> None:
    server = tried.models[name]
    body = {"model": f"{name}/{server.model}", "stream": stream, "tools": TOOLS, "max_tokens": 200}
    first = asked(tried, {**body, "messages": [QUESTION]})
    if name not in CALLING:
        assert (first["content"], first["finish_reason"], first.get("tool_calls") or []) == (HELLO, "stop", [])
        return
    [call] = first["tool_calls"]
    assert (call["function"]["name"], json.loads(call["function"]["arguments"])) == ("list_directory", ARGUMENTS)
    assert ((first["content"] or "").strip(), first["finish_reason"]) == ("", "tool_calls")
    said = {"role": "assistant", "content": "", "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": call["id"], "content": "config.json"}
    second = asked(tried, {**body, "messages": [QUESTION, said, result]})
    assert (second["content"].strip(), second["finish_reason"]) == (FINAL, "stop")
    assert not second.get("tool_calls")
