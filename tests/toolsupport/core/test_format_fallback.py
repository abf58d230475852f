"""Where a format fails, the next in line is used, each once, and in the end none."""

from __future__ import annotations

from toolsupport.core.format_fallback import in_format, in_text, next_in_line, without_tools
from toolsupport.core.types import Capabilities, RequestSpec, ToolSpec

REQUEST_SPEC = RequestSpec(
    "m", Capabilities({}), (ToolSpec("f"),), format="mistral", fallbacks=("native", "hermes", "pure_json"), stream=False
)


# F11
def test_the_formats_are_gone_through_in_order() -> None:
    found, request_spec = [], REQUEST_SPEC
    while (following := next_in_line(request_spec, "It failed.")) is not None:
        request_spec = following
        found.append((request_spec.format, request_spec.stream, request_spec.format_reason))
    assert found == [("native", False, "It failed."), ("hermes", True, "It failed."), ("pure_json", True, "It failed.")]
    assert request_spec.tools == REQUEST_SPEC.tools


# F11
def test_after_a_refusal_only_text_is_left() -> None:
    assert in_text(REQUEST_SPEC, "refused", "No.").format == "hermes"
    assert in_text(REQUEST_SPEC, "refused", "No.").fallbacks == ("pure_json",)
    bare = in_text(in_format(REQUEST_SPEC, "pure_json", ""), "refused", "No.")
    assert (bare.format, bare.tools, [left.rule for left in bare.excluded]) == ("", (), ["refused"])
    assert bare == without_tools(in_format(REQUEST_SPEC, "pure_json", ""), "refused", "No.")
