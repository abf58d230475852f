"""A name of code that begins with the word of a mark is no mark."""

from __future__ import annotations

from tests.tables import every
from tests.toolsupport.core.final_reply import told
from tests.toolsupport.core.test_reasoning import SIZES


@every("format", ["harmony", "auto", "hermes", "native", ""])
@every("code", ["Summary = load()", "Result.total", "Of(data)", "Data: dict = {}", "Rows[0]", "Sum += 1"])
def test_code_whose_first_name_begins_like_a_mark_is_text_though_it_is_cut(format: str, code: str) -> None:
    for size in SIZES:
        found = told(format, f"analysis{code}", size, finish="length")
        assert (found.text, found.thinking) == (f"analysis{code}", "")
