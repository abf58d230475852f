"""Scripts and style sheets, compressed once and then sent so."""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable
from typing import Any, cast

from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.utils.decorators import sync_and_async_middleware
from django.utils.text import compress_string

TYPES = ("text/javascript", "text/css", "image/svg+xml")
SMALLEST = 300  # bytes; below that compressing gains nothing


@sync_and_async_middleware
def CompressedStatic(get_response: Any) -> Callable[[HttpRequest], Any]:
    """Middleware for the files of the site itself, which are the same for everybody; stands before what sends them.

    Django's own would compress them piece by piece, each time anew. Only a server of this site's kind (ASGI) does it.
    """
    if not iscoroutinefunction(get_response):
        return cast(Callable[[HttpRequest], Any], get_response)
    made: dict[tuple[str, str], bytes] = {}

    async def answer(request: HttpRequest) -> HttpResponseBase:
        response = await get_response(request)
        if not _is_text_of_ours(request, response):
            return cast(HttpResponseBase, response)
        patch_vary_headers(response, ["Accept-Encoding"])
        if "gzip" not in request.headers.get("Accept-Encoding", "") or "Range" in request.headers:
            return cast(HttpResponseBase, response)
        key = (request.path, response.headers.get("ETag", ""))
        if key not in made:
            made[key] = compress_string(await _whole(response))
        return _compressed(response, made[key])

    return answer


def _is_text_of_ours(request: HttpRequest, response: Any) -> bool:
    kind = response.headers.get("Content-Type", "").partition(";")[0]
    large = int(response.headers.get("Content-Length", 0)) >= SMALLEST
    return request.path.startswith(settings.STATIC_URL) and response.status_code == 200 and kind in TYPES and large


async def _whole(response: AsyncIterable[bytes]) -> bytes:
    return b"".join([piece async for piece in response])


def _compressed(response: Any, body: bytes) -> HttpResponse:
    headers = {name: value for name, value in response.headers.items() if name != "Content-Length"}
    response.close()
    return HttpResponse(body, headers=headers | {"Content-Encoding": "gzip", "Content-Length": str(len(body))})
