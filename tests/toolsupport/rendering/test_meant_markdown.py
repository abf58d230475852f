"""Where Markdown alone would show an answer otherwise than its writer meant it."""

from __future__ import annotations

from tests.tables import every
from toolsupport.rendering.messages import render

EMPHASIS = [
    ("**서울(Seoul)**은", "<strong>서울(Seoul)</strong>은"),
    ("这是**“重点”**内容", "这是<strong>“重点”</strong>内容"),
    ("**注意：**请看", "<strong>注意：</strong>请看"),
    ("***「強調」***です", "<em><strong>「強調」</strong></em>です"),
    ("~~（古い）~~新", "<s>（古い）</s>新"),
    ("中文**加粗**中文", "中文<strong>加粗</strong>中文"),
    ("**a**（b）**c**", "<strong>a</strong>（b）<strong>c</strong>"),
    ("A**(b)**c 5*3*2 a_(b)_c", "A**(b)**c 5<em>3</em>2 a_(b)_c"),
    ("5 * 3 * 2 中 * 文", "5 * 3 * 2 中 * 文"),
]


@every("text, wanted", EMPHASIS)
def test_an_answer_is_shown_as_it_was_meant(text: str, wanted: str) -> None:
    assert wanted in render(text)
