"""Rows of a site that was just used hold codes with parameters, and no sentence that a program wrote."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.chat.test_approvals import asked
from tests.serving import Site, new_chat, page, serving, sign_in
from tests.toolsupport.services.simulator_thread import running_simulator
from toolsupport.core.sentence_codes import BEGINNING

REASON = "Seen by a person."
MODELS = ("sim-honest:latest", "sim-refuses", "sim-ignores", "sim-misconfigured")
TEXTS = {
    "SELECT reason FROM toolsupport_override": 12,
    "SELECT text FROM toolsupport_historyentry": 12,
    "SELECT text FROM chat_question": 1,
    "SELECT size FROM chat_question": 1,
    "SELECT reason FROM chat_question": 0,
}
# JSON columns, and the parts of them that people read.
VALUES = {
    "SELECT detail FROM toolsupport_detection WHERE status = 'done'": ("reason", "why"),
    "SELECT progress FROM toolsupport_detection WHERE status = 'done'": ("title", "detail"),
    "SELECT facts FROM chat_message WHERE code = 'detected'": ("verdict",),
}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """The simulated models, without the time that they take for each word."""
    with running_simulator() as url, serving(tmp_path, TOOLSUPPORT_SIMULATOR="off", OLLAMA_HOST=url) as site:
        yield site


def post(admin: httpx.Client, address: str, **given: Any) -> None:
    headers = {"X-CSRFToken": admin.cookies["csrftoken"]}
    answer = admin.post(address, data=given, headers=headers, follow_redirects=False)
    assert answer.status_code in (200, 302), answer.text[:300]


async def walk(site: Site, admin: httpx.Client) -> None:
    """Test models, undo a test, set a value and undo that, allow a change of a file."""
    conversation = new_chat(admin)
    async with page(site, admin, conversation) as opened:
        question = await asked(opened)
        await opened.send("question.answer", question=question, answer="once")
        await opened.until("turn.ended")
        await opened.send("detection.start", model="sim-honest:latest")
        await opened.until("notice", code="detected")
    for model in MODELS:
        with suppress(subprocess.CalledProcessError):  # 1 and 2 are verdicts
            site.manage("detect", model, "--server", "Ollama")
    [(last, profile)] = site.rows(
        "SELECT d.id, d.profile_id FROM toolsupport_detection d JOIN toolsupport_modelprofile p "
        "ON p.id = d.profile_id WHERE p.name = 'sim-honest:latest' ORDER BY d.id DESC LIMIT 1"
    )
    post(admin, f"/detections/{last}/undo/")
    post(admin, f"/models/{profile}/override/", capability="vision", value="yes", reason=REASON, newest=0)


def parts(value: Any, names: tuple[str, ...]) -> Iterator[Any]:
    """The values under these names, at any depth."""
    if isinstance(value, dict):
        yield from (inner for name, inner in value.items() if name in names and inner)
    for inner in value if isinstance(value, list) else ():
        yield from parts(inner, names)


def parsed(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


def foreign(site: Site) -> set[str]:
    """The errors of servers, which rows hold as they came."""
    replies = [parsed(value) for (value,) in site.rows("SELECT response FROM toolsupport_trial")]
    return {reply["refused"] for reply in replies} | {(reply["failed"] or {}).get("message", "") for reply in replies}


@pytest.mark.asyncio
async def test_rows_hold_codes(site: Site) -> None:
    with closing(sign_in(site)) as admin:
        await walk(site, admin)
    for query, least in TEXTS.items():
        written = [text for (text,) in site.rows(query) if text]
        assert [text for text in written if not text.startswith(BEGINNING) and text != REASON] == [], query
        assert len(written) >= least, query
    said = foreign(site)
    for query, names in VALUES.items():
        rows = [parsed(value) for (value,) in site.rows(query)]
        found = [part for row in rows for part in parts(row, names)]
        written = [part for part in found if not isinstance(part, dict)]
        assert len(found) > len(written) and [text for text in written if text not in said] == [], query
    reasons = [why for (why,) in site.rows("SELECT why FROM toolsupport_trial")]
    assert [why for why in reasons if not why.startswith(BEGINNING) and why not in said] == []
