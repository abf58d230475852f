"""Responses with gzip are complete, over the socket of a running site."""

from __future__ import annotations

import csv
import http.client
import json
import os
import shutil
import signal
import time
import zlib
from collections.abc import Iterator
from contextlib import closing

import httpx
import pytest
from django.conf import settings
from django.core.management import call_command

from tests import house
from tests.serving import PATIENCE, Site, new_chat, serving, sign_in
from toolsupport.web import static_compression

SCRIPT = "/static/js/conversation.js"
CONTENT = (house.ROOT / "static/js/conversation.js").read_bytes()
FILE = b"One line of a file.\n" * 50_000


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with serving(tmp_path_factory.mktemp("site")) as running:
        yield running


@pytest.fixture(scope="module")
def client(site: Site) -> Iterator[httpx.Client]:
    with closing(sign_in(site)) as browser:
        yield browser


class Answer:
    """An answer as a browser reads it: of several compressed texts one after another, only the first."""

    def __init__(self, client: httpx.Client, path: str, changed: dict[str, str] | None = None, body: str = "") -> None:
        cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
        own = {"Accept-Encoding": "gzip", "Cookie": cookies, "X-CSRFToken": client.cookies["csrftoken"]}
        own |= {"Content-Type": "application/json", "Origin": str(client.base_url).rstrip("/")}
        with closing(http.client.HTTPConnection("127.0.0.1", client.base_url.port, timeout=60)) as connection:
            connection.request("POST" if body else "GET", path, body, own | (changed or {}))
            answer = connection.getresponse()
            self.status, self.headers = answer.status, answer.headers
            self.pieces = list(iter(lambda: answer.read1(1024 * 1024), b""))
        self.sent = b"".join(self.pieces)
        self.encoding = self.headers.get("Content-Encoding", "")
        self.body = zlib.decompressobj(31).decompress(self.sent) if self.encoding == "gzip" else self.sent


def test_a_script_is_sent_compressed(client: httpx.Client) -> None:
    answer = Answer(client, SCRIPT)
    assert (answer.encoding, answer.body) == ("gzip", CONTENT)
    assert len(answer.sent) == int(answer.headers["Content-Length"]) < len(CONTENT) / 2
    assert "Accept-Encoding" in answer.headers["Vary"]
    again = Answer(client, SCRIPT, {"If-None-Match": answer.headers["ETag"]})
    assert (again.status, again.sent) == (304, b"")


def test_a_script_is_sent_as_it_is_where_gzip_is_not_wanted(client: httpx.Client) -> None:
    answer = Answer(client, SCRIPT, {"Accept-Encoding": "identity"})
    assert (answer.encoding, answer.body) == ("", CONTENT)


def test_a_page_is_compressed_and_its_length_varies(client: httpx.Client) -> None:
    answers = [Answer(client, "/models/") for _ in range(8)]
    assert {answer.encoding for answer in answers} == {"gzip"}
    assert all(b"</html>" in answer.body for answer in answers)
    assert len({len(answer.sent) for answer in answers}) > 1


@pytest.mark.parametrize("ending", ["csv", "json"])
def test_the_history_is_saved_whole(site: Site, client: httpx.Client, ending: str) -> None:  # D11
    ends = time.monotonic() + PATIENCE
    while not site.rows("SELECT 1 FROM toolsupport_historyentry"):  # what the servers claim
        assert time.monotonic() < ends and client.get("/models/").status_code == 200
    before = site.rows("SELECT count(*) FROM toolsupport_historyentry")[0][0]
    answer = Answer(client, f"/history/export.{ending}")
    text = answer.body.decode()
    rows = json.loads(text) if ending == "json" else list(csv.DictReader(text.splitlines()))
    after = site.rows("SELECT count(*) FROM toolsupport_historyentry")[0][0]  # servers that start claim more
    assert 0 < before <= len(rows) <= after


def test_a_conversation_is_saved_whole(client: httpx.Client) -> None:
    conversation = new_chat(client)
    assert json.loads(Answer(client, f"/chat/{conversation}/export.json").body)
    assert Answer(client, f"/chat/{conversation}/export.md").body.endswith(b"\n")


def test_a_file_is_saved_whole(client: httpx.Client) -> None:
    place = f"/chat/{new_chat(client)}/files/"
    sent = client.post(place, files={"files": ("a.txt", FILE)}, headers={"X-CSRFToken": client.cookies["csrftoken"]})
    assert sent.status_code == 200
    answer = Answer(client, f"{place}download/?path=a.txt")
    assert answer.body == FILE and int(answer.headers["Content-Length"]) == len(FILE)


def test_an_answer_to_a_program_is_streamed(client: httpx.Client) -> None:
    question = {"model": "sim-honest", "messages": [{"role": "user", "content": "Hello there"}], "stream": True}
    answer = Answer(client, "/v1/chat/completions", body=json.dumps(question))
    assert (answer.status, answer.encoding) == (200, ""), answer.body
    assert answer.body.endswith(b"data: [DONE]\n\n")
    assert len(answer.pieces) > 3


def test_old_copies_are_not_sent() -> None:
    call_command("collectstatic", interactive=False, verbosity=0)
    assert static_compression.collected()
    copy = settings.STATIC_ROOT / "js/conversation.js"
    os.utime(copy, (1, 1))
    assert not static_compression.collected()
    copy.unlink()
    assert not static_compression.collected()


def test_copies_are_made_again_at_the_start_where_they_can_be_made(site: Site, client: httpx.Client) -> None:
    (site.directory / "static/js/conversation.js").unlink()
    site.kill(signal.SIGTERM)
    site.start()
    answer = Answer(client, SCRIPT)
    assert (answer.status, answer.encoding, answer.body) == (200, "gzip", CONTENT)
    site.kill(signal.SIGTERM)
    shutil.rmtree(site.directory / "static")
    (site.directory / "static").write_text("in the way")
    site.start()
    answer = Answer(client, SCRIPT)
    assert (answer.status, answer.encoding, answer.body) == (200, "", CONTENT)
    site.kill(signal.SIGTERM)
    (site.directory / "static").unlink()  # the other tests find it whole
    site.start()
