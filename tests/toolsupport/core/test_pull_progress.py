"""The progress of a download, from the lines an Ollama server writes."""

from __future__ import annotations

import json

from tests.tables import every
from toolsupport.core.pull_progress import PullReader, explained

GO = [
    {"status": "pulling manifest"},
    {"status": "pulling aaa", "digest": "sha256:aaa", "total": 1000},
    {"status": "pulling aaa", "digest": "sha256:aaa", "total": 1000, "completed": 400},
    {"status": "pulling bbb", "digest": "sha256:bbb", "total": 24, "completed": 24},
    {"status": "pulling aaa", "digest": "sha256:aaa", "total": 1000, "completed": 1000},
    {"status": "verifying sha256 digest"},
    {"status": "writing manifest"},
    {"status": "removing unused layers"},
    {"status": "success"},
]


def test_the_layers_of_a_download_are_added_up():  # M10
    read, seen = PullReader(), []
    for line in GO:
        read.feed(json.dumps(line).encode())
        seen.append((read.step, read.completed, read.total))
    assert seen == [
        ("manifest", 0, 0),
        ("downloading", 0, 1000),
        ("downloading", 400, 1000),
        ("downloading", 424, 1024),
        ("downloading", 1024, 1024),
        *[("verifying", 1024, 1024)],
        *[("writing", 1024, 1024)] * 3,
    ]
    assert (read.done, read.error) == (True, "")


def test_odd_lines_change_nothing():
    read = PullReader()
    odd = [b"", b"x", b"[1]", b"null", b'{"status": 3, "total": "x", "digest": 1}', b"[" * 50_000, b'{"total": -1}']
    for line in odd:
        read.feed(line)
    assert (read.step, read.total, read.done, read.error) == ("", 0, False, "")


@every(
    "words, advice",
    [
        ("pull model manifest: file does not exist", "no model with this name"),
        (
            'Get "https://registry.ollama.ai/v2/": dial tcp: lookup registry.ollama.ai: no such host',
            "check its network",
        ),
        ("max retries exceeded: unexpected EOF", "check its network"),
        ("write /data/.ollama/models/blobs/sha256-1: no space left on device", "disk of the server is full"),
        ("412: The model you are pulling requires a newer version of Ollama.", "newer version of Ollama"),
        ("invalid model name", "not a valid model name"),
        ("digest mismatch, file must be downloaded again", "damaged"),
        ("<script>alert(1)</script>", "could not download"),
    ],
)
def test_errors_say_what_to_do_and_quote_the_server(words: str, advice: str):  # M10
    said = explained(words)
    assert advice.lower() in said.lower() and f"“{words.rstrip('.')}”" in said
