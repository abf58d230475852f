"""Reads the sample code of the page "Use it from your code", as a person copies it."""

from __future__ import annotations

import re
from contextlib import closing
from html import unescape

from tests.serving import Site, sign_in

KEY = re.compile(r"tsk-[\w-]{40,}")
SAMPLE = re.compile(r"<summary>(.*?)</summary>(.*?)</details>", re.S)
BLOCK = re.compile(r"<pre[^>]*>(.*?)</pre>", re.S)


def samples(site: Site, model: str) -> dict[str, list[str]]:
    """The code blocks of each sample, with a new key and this model."""
    with closing(sign_in(site)) as person:
        token = {"csrfmiddlewaretoken": person.cookies["csrftoken"]}
        made = (
            person.post("/account/keys/", data={"name": "samples", "scopes": "chat", **token}).raise_for_status().text
        )
        wanted = {"key": KEY.findall(made)[0], "model": model, **token}
        return read(person.post("/account/code/filled/", data=wanted).raise_for_status().text)


def read(page: str) -> dict[str, list[str]]:
    """The code blocks of each sample in a page."""
    parts = SAMPLE.findall(page)
    return {title: [unescape(re.sub("<[^>]+>", "", one)) for one in BLOCK.findall(rest)] for title, rest in parts}
