"""The commands that add servers, ask them, look after them."""

from __future__ import annotations

import json
import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from tests import house
from tests.factories import ServerFactory
from tests.toolsupport.stand_in import Servers
from toolsupport.models import Server
from toolsupport.providers import ModelReport, ServerReport
from toolsupport.registry.servers import key_encryption, servers

pytestmark = pytest.mark.django_db(transaction=True)
BOX = "http://box:11434"


def _run(*words: str) -> str:
    out = StringIO()
    call_command(*words, stdout=out)
    return out.getvalue()


def test_a_server_is_added_with_a_key_from_the_environment(
    servers_out_there: Servers, monkeypatch: pytest.MonkeyPatch
):  # M1
    monkeypatch.setenv("BOX_KEY", "sk-canary")
    servers_out_there.reports[BOX] = ServerReport("0.13.0", (ModelReport("a"),))
    said = _run("add_server", "box", BOX, "--kind", "ollama", "--api-key-env", "BOX_KEY")
    assert said == "Added box; it answers, models: 1\n"
    assert servers.endpoint(Server.objects.get().pk).api_key == "sk-canary"


def test_one_that_does_not_answer_is_kept(servers_out_there: Servers):
    assert "cannot be used yet" in _run("add_server", "box", BOX, "--kind", "ollama")
    assert Server.objects.get().origin == "command"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("box", "box", "--kind", "ollama"), "begin with http"),
        (("box", BOX, "--kind", "simulator"), "invalid choice"),
        (("box", BOX, "--kind", "ollama", "--api-key-env", "NO_SUCH_VARIABLE"), "NO_SUCH_VARIABLE is not set"),
    ],
)
def test_a_server_that_cannot_be_is_refused(words: tuple[str, ...], why: str):
    with pytest.raises(CommandError, match=why):
        _run("add_server", *words)
    assert Server.objects.count() == 0


def test_refreshing_tells_a_line_for_each_server(servers_out_there: Servers):  # M2
    servers_out_there.reports[BOX] = ServerReport("0.13.0", (ModelReport("a"), ModelReport("b")))
    ServerFactory(name="box", base_url=BOX)
    assert _run("refresh_models") == "box: models 2, described again 0\n"
    assert _run("refresh_models", "--server", "BOX") == "box: models 2, described again 0\n"


@pytest.mark.parametrize(
    ("status", "key", "words"),
    [
        (401, "", "Wrong key. The server at http://box:11434 requires an API key (401): “no”. Enter its API key."),
        (
            401,
            "sk",
            "Wrong key. The server at http://box:11434 requires another API key (401): “no”. Enter its API key.",
        ),
        (503, "", "Busy. The server at http://box:11434 is busy (503): “no”. Try again later."),
        (500, "", "Fails. The server at http://box:11434 failed (500): “no”. Its log has the reason."),
        (418, "", "Not an Ollama server. The server at http://box:11434 refused the request (418): “no”. Correct the"),
        (0, "", "Offline. http://box:11434 does not answer (connection refused). Start it with `ollama serve`"),
    ],
)
def test_a_server_that_cannot_be_listed_is_told_with_the_cause_and_the_next_step(
    servers_out_there: Servers, status: int, key: str, words: str
):
    servers_out_there.errors[BOX] = status
    ServerFactory(name="box", base_url=BOX, api_key=key_encryption.encrypt(key))
    out = StringIO()
    with pytest.raises(CommandError, match="Not every server is online"):
        call_command("refresh_models", stdout=out)
    assert out.getvalue().startswith(f"box: {words}") and "no answer" not in out.getvalue()


def test_refreshing_fails_where_a_server_is_silent_unknown_or_missing(servers_out_there: Servers):
    with pytest.raises(CommandError, match="no server yet"):
        _run("refresh_models")
    ServerFactory(name="box", base_url=BOX)
    with pytest.raises(CommandError, match="Not every server"):
        _run("refresh_models")
    with pytest.raises(CommandError, match="Servers: box"):
        _run("refresh_models", "--server", "bax")


def test_the_doctor_says_what_is_wrong_and_ends_with_1(servers_out_there: Servers):
    ServerFactory(name="box", base_url=BOX)
    out = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("doctor", stdout=out)
    assert ended.value.code == 1
    assert "FAIL  server box: " in out.getvalue()
    assert "ok    database: " in out.getvalue()


def test_the_doctor_speaks_to_machines(servers_out_there: Servers):
    servers_out_there.reports[BOX] = ServerReport("0.13.0")
    ServerFactory(name="box", base_url=BOX)
    report = json.loads(_run("doctor", "--json"))
    assert report["ok"] is True
    assert {"what": "server box", "ok": True, "words": f"{BOX} answers, models: 0"} in report["findings"]


def test_the_doctor_has_every_line_that_the_guide_names(
    servers_out_there: Servers,
) -> None:  # P1 P2 P3 P4 P5 P6 P7 P8 P9
    """What comes after a semicolon, or is a pattern, is there in some installations only."""
    ServerFactory(name="box", base_url=BOX)
    guide = (house.ROOT / "docs" / "guides" / "operate.md").read_text()
    table = re.findall(r"^\| ([^|]+) \| (`[^|]+) \|$", guide.split("| part | lines of `doctor` |")[1], re.MULTILINE)
    named = {one for _, lines in table[:9] for one in re.findall(r"`([^`…]+)`", lines.partition(";")[0])}
    out = StringIO()
    with pytest.raises(SystemExit):
        call_command("doctor", "--json", stdout=out)
    there = {one["what"] for one in json.loads(out.getvalue())["findings"]}
    assert named - {"servers"} <= there and "server box" in there and len(named) > 20
