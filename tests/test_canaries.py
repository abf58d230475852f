"""Twelve secrets are planted in a running site, and searched wherever people could read."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests.serving import ADMIN, PATIENCE, Site, new_chat, page, serving, sign_in

PASSWORD = "canary-old-pass-phrase"
ENVIRONMENT = {
    "TOOLSUPPORT_SECRET_KEY": "canary-signing-key-" + "k" * 50,
    "TOOLSUPPORT_METRICS_TOKEN": "canary-metrics-token",
    "TOOLSUPPORT_LOG": "json",
}
# Where a page may say a secret that it was just asked to make or to carry on.
FORMS = re.compile(r'name="csrfmiddlewaretoken" value="[^"]*"|"x-csrftoken": "[^"]*"')


def post(client: httpx.Client, path: str, **fields: str) -> httpx.Response:
    return client.post(path, data=fields, headers={"X-CSRFToken": client.cookies["csrftoken"]})


def visitor(site: Site) -> httpx.Client:
    client = httpx.Client(base_url=site.url, follow_redirects=True, timeout=PATIENCE, trust_env=False)
    client.get("/login/")
    return client


def plant(site: Site, admin: httpx.Client) -> tuple[dict[str, str], list[str]]:
    """The secrets by what they are, and the pages that answered while they were used."""
    secrets = {
        "signing key": ENVIRONMENT["TOOLSUPPORT_SECRET_KEY"],
        "metrics token": ENVIRONMENT["TOOLSUPPORT_METRICS_TOKEN"],
        "password of the environment": ADMIN[1],
        "session of the administrator": admin.cookies["sessionid"],
        "key of a server": "tsk-canary-server-key",
        "key of a server that was refused": "tsk-canary-refused-key",
        "wrong password": "canary-wrong-password",
        "password": PASSWORD,
        "new password": "canary-new-pass-phrase",
        "bearer of a client": "canary-bearer-of-a-client",
        "set-up token": "canary-set-up-token",
    }
    shown = [
        post(admin, "/servers/add/", name="a", kind="ollama", base_url=CLOSED, api_key=secrets["key of a server"]),
        post(admin, "/servers/add/", name="b", kind="ollama", base_url="x", api_key="tsk-canary-refused-key"),
    ]
    invited = post(admin, "/people/invite/", name="dora", role="user")
    secrets["link of an invitation"] = re.findall(r"/join/\?token=([\w-]+)", invited.text)[0]
    with closing(visitor(site)) as dora:
        token = secrets["link of an invitation"]
        post(dora, "/join/", token=token, password=PASSWORD, again=PASSWORD)
        secrets["session"] = dora.cookies["sessionid"]
        new = secrets["new password"]
        changed = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
        shown += [post(dora, "/account/password/", **changed), dora.get("/account/"), dora.get("/people/")]
        secrets["session after the change"] = dora.cookies["sessionid"]
        shown += [dora.get(path, headers={"Authorization": f"Bearer {secrets['bearer of a client']}"}) for path in LOST]
    with closing(visitor(site)) as stranger:
        shown += [
            post(stranger, "/login/", username="dora", password=secrets["wrong password"]),
            stranger.get("/setup/", params={"token": secrets["set-up token"]}),
            stranger.get("/join/", params={"token": token}),
            stranger.post("/login/", data={"username": "dora", "password": secrets["password"]}),
            stranger.get("/metrics", headers={"Authorization": f"Bearer {secrets['bearer of a client']}"}),
        ]
    return secrets, [answer.text for answer in shown]


NUMBER = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|\d+")
OF_A_KIND = 3
CLOSED = "http://127.0.0.1:9"
LOST = ("/nothing/", "/metrics", "/chat/00000000-0000-0000-0000-000000000000/", "/models/?q=%00", "/admin/")


def crawl(client: httpx.Client) -> Iterator[str]:
    """Every page that links lead to, of pages that differ in a number only some."""
    seen: set[str] = set()
    of_kind: Counter[str] = Counter()
    waiting = ["/", "/models/", "/admin/", "/account/"]
    while waiting:
        path = waiting.pop()
        kind = NUMBER.sub("#", path)
        if path in seen or of_kind[kind] >= OF_A_KIND:
            continue
        seen.add(path)
        of_kind[kind] += 1
        text = client.get(path).text
        yield text
        waiting += [link for link in re.findall(r'href="(/[^"#?]*)"', text) if not link.startswith("/static/")]


def rows(site: Site) -> str:
    """All that lies in the database, but the sessions: their keys are what a browser shows."""
    with closing(sqlite3.connect(site.directory / "toolsupport.sqlite3")) as database:
        return "\n".join(line for line in database.iterdump() if "toolsupport_session" not in line)


# SAFETY 4: 12 canary secrets, 0 found anywhere
@pytest.mark.asyncio
async def test_no_planted_secret_is_found_anywhere(tmp_path: Path) -> None:
    with serving(tmp_path, **ENVIRONMENT) as site, closing(sign_in(site)) as admin:
        secrets, shown = plant(site, admin)
        async with page(site, admin, new_chat(admin)) as open_page:
            await open_page.send("message.send", text="What's in this folder?")
            await open_page.until("turn.ended")
            await open_page.send("turn.resync", message=987654321)
            await open_page.until("error")
        places = {
            "pages that answered": "\n".join(shown),
            "pages": "\n".join(crawl(admin)),
            "frames": json.dumps(open_page.got),
            "rows": rows(site),
        }
    places["log"] = (site.directory / "serve.log").read_text()
    assert len(secrets) >= 12
    # The places are the right ones: what may be read there is there.
    wanted = {"pages that answered": "dora", "pages": "dora", "frames": "config.json", "rows": "dora", "log": "/join/"}
    assert [where for where, word in wanted.items() if word not in places[where]] == []
    assert all(len(text) > 500 for text in places.values()), {name: len(text) for name, text in places.items()}
    read = {name: FORMS.sub("", text) for name, text in places.items()}
    found = [f"{what} in {where}" for what, one in secrets.items() for where, text in read.items() if one in text]
    assert found == []
    for line in places["log"].splitlines():
        assert json.loads(line)["message"]
