"""A limit that a server refuses is lowered to the one that it permits, if that leaves room for an answer."""

from __future__ import annotations

from typing import Any

from tests.tables import every
from toolsupport.core.output_limits import lowered

TOO_LARGE = (
    "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 32768 tokens "
    "and your request has {} input tokens (32000 > 32768 - {}). (parameter=max_tokens, value=32000)"
)
REQUESTED = "However, you requested 37000 tokens (5000 in the messages, 32000 in the completion). Please reduce it."
# The words of a server → the limit that remains of 32,000 tokens; None: the refusal stands, 0: without a limit.
WORDS = {
    TOO_LARGE.format(17459, 17459): 15309,
    TOO_LARGE.format(32700, 32700): None,
    f"This model's maximum context length is 32768 tokens. {REQUESTED}": 27768,
    f"This model's maximum context length is 5001 tokens. {REQUESTED}": None,
    "This endpoint's maximum context length is 32768 tokens. However, you requested about 37000 tokens (5000 of text "
    "input, 32000 in the output). Please reduce the length of either one.": 27768,
    "This model's maximum context length is 32768 tokens. However, you requested 37074 tokens (5000 in the messages, "
    "74 in the functions, and 32000 in the completion).": 27694,
    "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens (5000 of text "
    "input, 3000 of tool input, 32000 in the output).": 24768,
    "Requested token count exceeds the model's maximum context length of 32768 tokens. You requested a total of 37000 "
    "tokens: 5000 tokens from the input messages and 32000 tokens for the completion.": 27768,
    "input length and `max_tokens` exceed context limit: 188240 + 32000 > 200000, decrease input length": 11760,
    "You passed 5000 input tokens and requested 32000 output tokens. However, the model's context length is only 32768 "
    "tokens, resulting in a maximum input length of 768 tokens.": 27768,
    "This model's maximum context length is 32768 tokens. However, you requested 32000 output tokens and your prompt "
    "contains at least 769 input tokens, for a total of at least 32769 tokens.": 0,
    "`inputs` tokens + `max_new_tokens` must be <= 32768. Given: 5000 `inputs` tokens and 9 `max_new_tokens`": 27768,
    "max_tokens is too large: 32000. This model supports at most 16384 completion tokens, whereas you gave it": 16384,
    "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the "
    "`context_window` for this model": 8192,
    "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]": 8192,
    "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for m": 8192,
    # Others
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.": None,
    "max_tokens must be greater than or equal to 1": None,
    "max_tokens is too large: 32000. This model supports at most 64000 completion tokens": None,
    "You passed 5001 input tokens and requested 0 output tokens. However, the model's context length is only 4096 "
    "tokens, resulting in a maximum input length of 4096 tokens.": None,
    "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.": None,
    "": None,
}


@every("words", list(WORDS))
def test_the_limit_that_remains(words: str) -> None:
    options: dict[str, Any] = {"seed": 1, "num_predict": 32000}
    most = WORDS[words]
    wanted = None if most is None else {"seed": 1, "num_predict": most} if most else {"seed": 1}
    assert lowered(options, words) == wanted
    assert lowered({"max_tokens": 32000}, words.lower()) == (
        wanted and {"num_predict": most} if most else wanted and {}
    )
    for without in ({}, {"num_predict": -1}, {"num_predict": None}):
        assert lowered(without, words) is None
