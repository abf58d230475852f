"""Scripts go over the wire compressed, whole, and only where the browser takes them so."""

from __future__ import annotations

import gzip
from typing import Any

import pytest
from django.conf import settings
from django.http import HttpResponse
from django.test import AsyncClient, RequestFactory

from tests import house
from toolsupport.web.static_compression import CompressedStatic

pytestmark = pytest.mark.asyncio
SCRIPT = "/static/js/conversation.js"
CONTENT = (house.ROOT / "static/js/conversation.js").read_bytes()


@pytest.fixture(autouse=True)
def _static_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "SERVESTATIC_USE_FINDERS", True)


async def get(path: str, **headers: str) -> tuple[Any, bytes]:
    answer: Any = await AsyncClient().get(path, headers=headers)
    return answer, b"".join([piece async for piece in answer]) if answer.streaming else answer.content


async def test_a_script_is_compressed_in_one_piece() -> None:
    for _ in range(2):
        answer, body = await get(SCRIPT, accept_encoding="gzip")
        assert answer.headers["Content-Encoding"] == "gzip" and len(body) == int(answer.headers["Content-Length"])
        assert gzip.decompress(body) == CONTENT and len(body) < len(CONTENT) / 2
        assert "Accept-Encoding" in answer.headers["Vary"]


async def test_it_goes_as_it_is_where_nobody_asked_for_less() -> None:
    answer, body = await get(SCRIPT)
    assert "Content-Encoding" not in answer.headers and body == CONTENT
    part, some = await get(SCRIPT, accept_encoding="gzip", range="bytes=0-9")
    assert part.status_code == 206 and some == CONTENT[:10]


async def test_a_copy_that_is_still_good_is_not_sent_again() -> None:
    tag = (await get(SCRIPT, accept_encoding="gzip"))[0].headers["ETag"]
    again = await AsyncClient().get(SCRIPT, headers={"accept_encoding": "gzip", "if_none_match": tag})
    assert again.status_code == 304


async def test_nothing_but_files_of_the_site_is_touched() -> None:
    async def page(request: object) -> HttpResponse:
        return HttpResponse("x" * 999, content_type="text/css", headers={"Content-Length": "999"})

    request = RequestFactory().get("/elsewhere.css", headers={"accept-encoding": "gzip"})
    assert "Content-Encoding" not in (await CompressedStatic(page)(request)).headers
