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
    ("总价=单价(元)*数量(个)*折扣", "单价(元)*数量(个)*折扣"),
    ("=SUM(A1)*单价+SUM(B1)*单价", "=SUM(A1)*单价+SUM(B1)*单价"),
    ("价格（元）*数量（个）*税率", "价格（元）*数量（个）*税率"),
    ("f(x)**2は（x）**3", "f(x)**2は（x）**3"),
]
LINKS = [
    ("https://e.example/Foo_(bar)", 'href="https://e.example/Foo_(bar)"'),
    ("(see https://e.example/Foo_(bar)).", 'href="https://e.example/Foo_(bar)"'),
    ("[https://e.example/x]", 'href="https://e.example/x"'),
    ("https://e.example/?a[]=1&b={c}", 'href="https://e.example/?a[]=1&amp;b={c}"'),
    ("请访问https://e.example/x，然后", ">https://e.example/x</a>，然后"),
    ("「https://e.example/x」と“https://e.example/y”", ">https://e.example/y</a>”"),
    ("https://e.example/x。", ">https://e.example/x</a>。"),
    ("https://例.example/路", ">https://例.example/路</a>"),
    ("https:// and https://)", '<p dir="auto">https:// and https://)</p>'),
]
IMAGES_IN_LINKS = [
    ("[![a badge](https://a.example/b.svg)](https://c.example)", ">a badge</a>"),
    ("[![](https://a.example/b.svg)](https://c.example)", ">Image</a>"),
    ("[a ![b](https://a.example/b.svg) *c*](https://c.example)", ">a b <em>c</em></a>"),
]
LINE_BREAKS = [
    ("Roses are red,\nviolets are blue.", "red,<br>\nviolets"),
    ("- a\n  b", "<li>a<br>\nb</li>"),
    ("> a\n> b", "a<br>\nb"),
    ("|a|\n|-|\n|x<br>y<BR />z|", "<td>x<br>\ny<br>\nz</td>"),
    ("|a<br/>b|\n|-|\n|**x<br>y**|", "<td><strong>x<br>\ny</strong></td>"),
    ("|a|\n|-|\n|`<br>` \\<br> &lt;br&gt; <br x>|", "<code>&lt;br&gt;</code> &lt;br&gt; &lt;br&gt; &lt;br x&gt;"),
    ("Use <br> there", "Use &lt;br&gt; there"),
]


@every("text, wanted", [*EMPHASIS, *LINKS, *LINE_BREAKS])
def test_an_answer_is_shown_as_it_was_meant(text: str, wanted: str) -> None:
    assert wanted in render(text)


@every("text, wanted", IMAGES_IN_LINKS)
def test_an_image_in_a_link_is_a_part_of_it(text: str, wanted: str) -> None:
    html = render(text)
    assert wanted in html
    assert (html.count("<a "), html.count('href="https://c.example"')) == (1, 1)
