"""Numbers of servers that no column can hold count as not reported, in every protocol."""

from __future__ import annotations

import orjson

from tests.tables import every
from toolsupport.core.events import Usage
from toolsupport.core.pull_progress import MOST_LAYERS, PullReader
from toolsupport.core.reported_numbers import MOST, MOST_BYTES, milliseconds, whole
from toolsupport.providers import codec

ODD = (-1, 2**31, 2**63, 2**64 - 1, 1.5, 1e308, True, "7", None, [1], {"a": 1})


@every("value", [(one,) for one in ODD])
def test_what_is_no_count_is_none(value: object) -> None:
    assert whole(value) is None


def test_counts_and_durations_are_kept() -> None:
    assert [whole(one) for one in (0, 7, MOST)] == [0, 7, MOST]
    assert (whole(MOST_BYTES, MOST_BYTES), whole(MOST_BYTES + 1, MOST_BYTES)) == (MOST_BYTES, None)
    assert [milliseconds(one) for one in (0, 2.5, -1, 1e308, float("nan"), float("inf"), True)] == [0, 2.5] + [None] * 5
    assert milliseconds(3_000_000, 1_000_000) == 3


@every("value", [(one,) for one in ODD])
def test_an_answer_with_odd_counts_ends_as_usual(value: object) -> None:
    openai = {"choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]}
    usage = {"usage": {"prompt_tokens": value, "completion_tokens": value}, "timings": {"predicted_ms": value}}
    ollama = {"message": {"content": "hi"}, "done": True, "prompt_eval_count": value, "eval_count": value}
    written = {
        "openai": b"data: " + orjson.dumps(openai | usage) + b"\n\ndata: [DONE]\n\n",
        "ollama": orjson.dumps(ollama | {"eval_duration": value}) + b"\n",
    }
    for kind, body in written.items():
        reader = codec(kind)
        events = [*reader.feed(body), *reader.flush()]
        (found,) = [event for event in events if isinstance(event, Usage)]
        assert (found.prompt_tokens, found.output_tokens) == (None, None)


def test_a_download_of_endless_layers_is_bounded() -> None:
    reader = PullReader()
    for number in range(MOST_LAYERS + 50):
        reader.feed(orjson.dumps({"status": "pulling", "digest": f"sha256:{number}", "total": 2**63, "completed": 1}))
        reader.feed(orjson.dumps({"status": "pulling", "digest": f"sha256:{number}", "total": MOST_BYTES}))
    assert reader.total == MOST_LAYERS * MOST_BYTES < 2**63
