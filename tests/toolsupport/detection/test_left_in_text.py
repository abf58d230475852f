"""A call that a server left in the text: its setting is missing where one of its parsers reads the call, else text."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from tests.toolsupport.detection.test_silent_servers import server
from tests.toolsupport.detection.test_thinking import WISH, Asked, Body, Model
from toolsupport.core.server_flags import sentence
from toolsupport.core.types import Capabilities, RequestSpec
from toolsupport.core.verdicts import Verdict
from toolsupport.detection import ProbeRunner, ProbeTarget, ProbeTrial
from toolsupport.detection.probe_run import StepProgress, examine
from toolsupport.detection.text_formats import form_of, formats_for

PYTHON = 'lookup_ticket(ticket="{}", copies={})'
JSON = '{{"name": "lookup_ticket", "arguments": {{"ticket": "{}", "copies": {}}}}}'
ARGUMENTS = '{{"ticket": "{}", "copies": {}}}'
HERMES = f"<tool_call>\n{JSON}\n</tool_call>"
QWEN = (
    "<function=lookup_ticket>\n<parameter=ticket>\n{}\n</parameter>\n<parameter=copies>\n{}\n</parameter>\n</function>"
)
# What no parser of a server reads.
UNREADABLE = {
    "plain Python": PYTHON,
    "plain Python behind a sentence": f"Sure:\n\n{PYTHON}",
    "plain Python in a fence": f"```python\n{PYTHON}\n```",
    "tool_code": f"```tool_code\n{PYTHON}\n```",
    "JSON in a fence": f"```json\n{JSON}\n```",
    "a list in a fence": f"```json\n[{JSON}]\n```",
    "a name above its arguments": f"lookup_ticket\n{ARGUMENTS}",
    "Functionary's": f">>>all\nSure.>>>lookup_ticket\n{ARGUMENTS}",
    "ReAct": f"Thought: I look.\nAction: lookup_ticket\nAction Input: {ARGUMENTS}\nObservation: found",
}
VLLM, SGLANG = "--enable-auto-tool-choice --tool-call-parser ", "--tool-call-parser "
# What the model writes, parsers of its family → the setting of vLLM, of SGLang.
READABLE = {
    "Hermes": (HERMES, {}, "hermes", "hermes"),
    "Hermes behind a sentence": (f"Sure. {HERMES}", {}, "hermes", "hermes"),
    "Hermes, by Qwen": (HERMES, {"vllm": "hermes", "sglang": "qwen25"}, "hermes", "qwen25"),
    "Hermes, by a model with other tags": (HERMES, {"vllm": "qwen3_coder"}, "hermes", "hermes"),
    "Qwen's tags": (QWEN, {"vllm": "qwen3_coder"}, "qwen3_coder", "qwen3_coder"),
    "Mistral's": (f"[TOOL_CALLS][{JSON}]", {}, "mistral", "mistral"),
    "a list in Python": (f"[{PYTHON}]", {}, "pythonic", "pythonic"),
    "a bare object": (JSON, {}, "llama3_json", "llama3"),
}


def writing(pattern: str) -> Model:
    def model(body: Body) -> tuple[str, bool, str]:
        wanted = WISH.search(body["messages"][-1]["content"])
        assert wanted
        return pattern.format(wanted[1], wanted[2]), False, "stop"

    return model


async def verdict_of(pattern: str, kind: str, parsers: dict[str, str]) -> Verdict:
    async def keep(trial: ProbeTrial) -> None: ...

    async def tell(step: StepProgress) -> None: ...

    asked = Asked(writing(pattern), without_tools=True)
    async with server(asked.answer) as endpoint:
        subject = ProbeTarget(
            replace(endpoint, kind=kind), RequestSpec("some", Capabilities({})), formats_for(()), parsers=parsers
        )
        return await examine(ProbeRunner(subject, keep, random.Random(1)), "tools", tell, lambda step: False)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((name, "vllm") for name in UNREADABLE),
        *(("plain Python", kind) for kind in ("sglang", "lmstudio", "llamacpp")),
    ],
)
async def test_what_no_parser_reads_is_text(name: str, kind: str) -> None:  # D6
    judged = await verdict_of(UNREADABLE[name], kind, {})
    assert (judged.name, judged.values["tools"]) == ("text", False), judged


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", ["vllm", "sglang"])
@pytest.mark.parametrize("name", READABLE)
async def test_what_a_parser_reads_names_its_setting(name: str, kind: str) -> None:  # D6
    written, parsers, vllm, sglang = READABLE[name]
    judged = await verdict_of(written, kind, parsers)
    flag = VLLM + vllm if kind == "vllm" else SGLANG + sglang
    assert (judged.name, judged.detail["flag"], dict(judged.values)) == ("misconfigured", flag, {}), judged
    assert judged.reason.endswith(sentence(flag))


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", ["lmstudio", "llamacpp", "openai"])
async def test_servers_without_such_a_setting_leave_text(kind: str) -> None:  # D6
    judged = await verdict_of(HERMES, kind, {"vllm": "hermes"})
    assert (judged.name, judged.values["format"]) == ("text", "hermes"), judged


def test_prose_about_a_call_is_no_call() -> None:
    assert form_of("You could call lookup_ticket with ticket K7F-3XDP and copies 2.") == ""
    assert form_of("<tool_call> is how lookup_ticket would be called for K7F-3XDP.") == ""
