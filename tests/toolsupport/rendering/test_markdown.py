"""Markdown of a model is shown as HTML that cannot do anything."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.growth import grows_no_faster
from toolsupport.rendering import code_colors, markdown, mathml
from toolsupport.rendering.messages import render

ADDRESS = "javascript:alert(1)"
HOSTILE = [
    "<script>alert(1)</script>",
    "<SCRIPT SRC=//evil.example/x.js></SCRIPT>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<img src=x onerror=alert(1)>",
    "<img src=x onerror\n=alert(1)>",
    "<svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<svg><a xlink:href='javascript:alert(1)'><text>x</text></a></svg>",
    "<svg><style><img src=x onerror=alert(1)></style></svg>",
    "<math><mi xlink:href='javascript:alert(1)'>x</mi></math>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "<iframe src=javascript:alert(1)></iframe>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<object data=javascript:alert(1)></object>",
    "<embed src=javascript:alert(1)>",
    "<form action=/logout/ method=post><button>go</button></form>",
    "<button formaction=javascript:alert(1)>go</button>",
    "<input autofocus onfocus=alert(1)>",
    "<select autofocus onfocus=alert(1)>",
    "<textarea autofocus onfocus=alert(1)>",
    "<details open ontoggle=alert(1)>",
    "<video><source onerror=alert(1)></video>",
    "<audio src=x onerror=alert(1)>",
    "<body onload=alert(1)>",
    "<marquee onstart=alert(1)>",
    "<meta http-equiv=refresh content='0;url=javascript:alert(1)'>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<base href=//evil.example/>",
    "<style>body{background:url(javascript:alert(1))}</style>",
    "<p style='background:url(javascript:alert(1))'>x</p>",
    "<div style=position:fixed;inset:0>x</div>",
    "<a href=javascript:alert(1)>x</a>",
    "<a href='java\tscript:alert(1)'>x</a>",
    "<a href=data:text/html,<script>alert(1)</script>>x</a>",
    "<a onclick=alert(1)>x</a>",
    "<div hx-get=/logout/ hx-trigger=load>x</div>",
    "<div data-hx-post='/models/1/override/' hx-trigger='load'>x</div>",
    "<div hx-on:load='alert(1)'>x</div>",
    "<button type=button data-copy onclick=alert(1)>x</button>",
    "<!--<img src='--><img src=x onerror=alert(1)>",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<?php echo '<script>alert(1)</script>' ?>",
    "</div></article><script>alert(1)</script>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>",
    "<template><script>alert(1)</script></template>",
    "<xmp><script>alert(1)</script></xmp>",
    f"[x]({ADDRESS})",
    "[x](JaVaScRiPt:alert(1))",
    "[x](javascript&#58;alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](java&Tab;script:alert(1))",
    "[x](java&NewLine;script:alert(1))",
    "[x](<java\u0001script:alert(1)>)",
    "[x](\u0001javascript:alert(1))",
    "[x](vbscript:msgbox(1))",
    "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "[x](data:image/svg+xml,<svg onload=alert(1)>)",
    "[x](file:///etc/passwd)",
    "[x](blob:http://a/b)",
    "[x](//evil.example/x)",
    "[x](/logout/)",
    "[x][1]\n\n[1]: javascript:alert(1)",
    '[x](http://a.example "onmouseover=alert(1)")',
    "[x](http://a.example '\" onmouseover=\"alert(1)')",
    '[x](http://a.example/"onmouseover="alert(1))',
    f"![x]({ADDRESS})",
    "![x](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+)",
    "![x](http://evil.example/who-reads-this.png)",
    '![x" onerror="alert(1)](http://a.example/x.png)',
    '![x](http://a.example/x.png" onerror="alert(1))',
    f"<{ADDRESS}>",
    "<data:text/html,<script>alert(1)</script>>",
    'http://a.example/"onmouseover=alert(1)',
    "http://a.example/<script>alert(1)</script>",
    "```<script>alert(1)</script>\nx\n```",
    '```"><img src=x onerror=alert(1)>\nx\n```',
    "```html\n<script>alert(1)</script>\n```",
    "```html onload=alert(1)\n<img src=x onerror=alert(1)>\n```",
    "~~~js\n</code></pre><script>alert(1)</script>\n~~~",
    "    <script>alert(1)</script>",
    "`<script>alert(1)</script>`",
    "| <script>alert(1)</script> |\n|-|\n| <img src=x onerror=alert(1)> |",
    "# <script>alert(1)</script>",
    "> <iframe src=javascript:alert(1)>",
    "- <svg onload=alert(1)>\n- [x](javascript:alert(1))",
    "**<img src=x onerror=alert(1)>**",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;alert(1)&#60;/script&#62;",
    "\\<script>alert(1)\\</script>",
    '<a href="http://a.example" target=_top rel=opener>x</a>',
]

# Where markup stands: alone, in a formula, in a text of one.
PLACES = (
    "{}",
    "${}$",
    "$$\n{}\n$$",
    "\\({}\\)",
    "\\[{}\\]",
    "$\\text{{{}}}$",
    "$\\mathrm{{{}}}x$",
    "$a_{{{}}}$",
    "|$x{}$|\n|-|",
)
FORMULAS = [
    "$\\href{javascript:alert(1)}{x}$",
    "$\\url{javascript:alert(1)}$",
    "$\\class{evil}{x}$",
    "$\\style{position:fixed;inset:0}{x}$",
    "$\\cssId{main}{x}$",
    "$\\hspace{-1000em}x$",
    "$\\kern-1000em x$",
    "$\\rule{1000em}{1000em}$",
    "$\\raise1000em x$",
    "$\\color{url(//evil.example)}x$",
    "$\\newcommand{\\a}{<script>}\\a$",
    "$\\def\\a{\\a\\a}\\a$",
    "$\\begin{annotation-xml}x\\end{annotation-xml}$",
    "$\\unicode{x3c}script\\unicode{x3e}$",
    "$&lt;script&gt;alert(1)&lt;/script&gt;$",
    "$&#x3c;img src=x onerror=alert(1)&#x3e;$",
    "$\\text{&lt;img src=x onerror=alert(1)&gt;}$",
    "$\\text{</mtext></math><img src=x onerror=alert(1)>}$",
    "$\\text{<mglyph><style><img src=x onerror=alert(1)>}$",
    "$\\text{<maction actiontype=statusline xlink:href=javascript:alert(1)>}$",
    "$\\operatorname{<svg onload=alert(1)>}$",
    "$\\begin{matrix}<script>&</script>\\end{matrix}$",
    "$\\sqrt[<script>]{</script>}$",
    "$\\left<script\\right>$",
    "$\\tag{<script>}$",
]

TAGS = frozenset((*markdown._TAGS.split(), *mathml.ELEMENTS))
CLASSES = frozenset(("boxed", "left", "right", "center"))
ATTRIBUTES = frozenset(
    [
        "href",
        "title",
        "rel",
        "target",
        "class",
        "start",
        "type",
        "data-copy",
        "data-wrap",
        "aria-pressed",
        "aria-label",
        "tabindex",
        "role",
        "display",
        "mathvariant",
        "stretchy",
        "fence",
        "accent",
        "form",
        "minsize",
        "maxsize",
        "width",
        "linethickness",
        "displaystyle",
        "scriptlevel",
        "dir",
        "disabled",
        "checked",
    ]
)


class Inspector(HTMLParser):
    """Collects what a browser would see in a piece of HTML: `sins` in words."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.sins: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in TAGS:
            self.sins.append(f"<{tag}>")
        for name, value in attrs:
            if name not in ATTRIBUTES:
                self.sins.append(f"{tag} {name}")
            if name == "class" and tag in ("mrow", "mtd", "math", "mi") and value not in CLASSES:
                self.sins.append(f"{tag} class={value}")
            if name == "width" and not re.fullmatch(r"-?[012]?(\.\d+)?em", value or ""):
                self.sins.append(f"{tag} width={value}")
            if name == "href" and not (value or "").startswith(("http://", "https://", "mailto:")):
                self.sins.append(f"{tag} {name}={value}")

    def handle_comment(self, data: str) -> None:
        self.sins.append("a comment")

    def handle_decl(self, decl: str) -> None:
        self.sins.append("a declaration")


def inspected(html: str) -> Inspector:
    inspector = Inspector()
    inspector.feed(html)
    inspector.close()
    return inspector


def test_there_are_enough_hostile_texts() -> None:
    assert len(set(HOSTILE)) == len(HOSTILE) >= 60


@pytest.mark.parametrize(
    "sinner", ["<script>x</script>", "<b onclick=x>", "<a href=javascript:x>", "<a href=/x>", "<!--x-->"]
)
def test_the_inspector_sees_sins(sinner: str) -> None:
    assert inspected(sinner).sins


def test_a_hostile_text_does_nothing_wherever_it_stands() -> None:
    texts = [*FORMULAS, *(place.format(text) for place in PLACES for text in (*HOSTILE, *FORMULAS))]
    assert {text: sins for text in texts if (sins := inspected(render(text)).sins)} == {}


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                *HOSTILE,
                *FORMULAS,
                "$",
                "$$\n",
                "\\(",
                "\\)",
                "\n\n",
                "```\n",
                "|a|\n|-|\n|",
                "[",
                "](",
                ")",
                "<",
                ">",
                "`",
                "*",
                "&#x",
            ]
        )
    )
)
def test_hostile_texts_in_any_company_do_nothing(pieces: list[str]) -> None:
    assert inspected(render("".join(pieces))).sins == []


@settings(deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_shown(text: str) -> None:
    assert inspected(render(text)).sins == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("plain", '<p dir="auto">plain</p>'),
        ("- [ ] a\n- [x] b", '<label><input type="checkbox" disabled="" checked=""> b</label>'),
        ("**b** *e* ~~s~~ `c`", "<strong>b</strong> <em>e</em> <s>s</s> <code>c</code>"),
        ("- a\n- b", "<li>a</li>"),
        ("3. c", '<ol start="3" dir="auto">'),
        ("> q", '<blockquote dir="auto">'),
        ("a\n\n---", "<hr>"),
        ("a  \nb", "a<br>"),
        ("1 < 2 & 3", "1 &lt; 2 &amp; 3"),
        ("<b>x</b>", "&lt;b&gt;x&lt;/b&gt;"),
        ("|a|b|\n|-|-:|\n|1|2|", '<td class="right">2</td>'),
        ("|a|\n|:-:|\n|1|", '<td class="center">1</td>'),
        ("|a|\n|-|\n|1|", '<div class="scroll" tabindex="0" role="group" aria-label="Table" dir="auto"><table>'),
        ("![a cat](https://e.example/cat.png)", ">a cat</a>"),
        ("see https://e.example/a_b?c=1.", 'href="https://e.example/a_b?c=1"'),
        ("(https://e.example/x)", ">https://e.example/x</a>)"),
        ("<https://e.example>", 'href="https://e.example"'),
        ("```python\ndef f(): ...\n```", '<span class="k">def</span>'),
        ("```python\nx\n```", "<span>python</span>"),
        ("```nosuchlanguage\na < b\n```", "<code>a &lt; b\n</code>"),
        ("```\nx\n```", "<span>text</span>"),
    ],
)
def test_ordinary_markdown_keeps_its_shape(text: str, wanted: str) -> None:
    assert wanted in render(text)


def test_links_lead_out_without_telling_where_from() -> None:
    html = render("[x](https://e.example)")
    assert 'rel="noopener noreferrer nofollow"' in html
    assert 'target="_blank"' in html


def test_a_link_is_not_linked_twice() -> None:
    assert render("[https://a.example](https://b.example)").count("<a ") == 1
    assert "<a " not in render("`https://a.example`")


def test_images_are_never_loaded() -> None:
    assert "img" not in inspected(render("![x](https://e.example/x.png)")).tags


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ("# a\n## b\n# c", ["h3", "h4", "h3"]),
        ("## a\n### b", ["h3", "h4"]),
        ("### a\n# b", ["h3", "h3"]),
        ("# a\n#### b\n###### c", ["h3", "h4", "h5"]),
        ("# a\n## b\n### c\n#### d\n##### e", ["h3", "h4", "h5", "h6", "h6"]),
    ],
)
def test_headings_go_on_below_the_messages_own_and_skip_nothing(text: str, levels: list[str]) -> None:
    assert [tag for tag in inspected(render(text)).tags if tag[0] == "h" and tag[1:].isdigit()] == levels


def test_code_can_be_wrapped_and_copied() -> None:
    html = render("```\nx\n```")
    assert 'data-wrap=""' in html
    assert 'data-copy=""' in html


def test_every_language_of_the_list_has_a_lexer() -> None:
    for language in code_colors.LANGUAGES:
        assert language in code_colors.lexer(language).aliases


def test_highlighting_stops_where_it_would_cost_too_much() -> None:
    long = render("```python\n" + "x = 1\n" * 4000 + "```")
    assert 'class="n"' not in long
    assert markdown.UNCOLORED in long
    many = render(("```python\n" + "x = 1\n" * 2000 + "```\n\n") * 5)
    assert many.count('class="n"') <= code_colors.LONGEST_OF_ALL / 6


def test_a_very_long_text_is_shown_plain() -> None:
    html = render("*a* <b> " * 20_000)
    assert "too long to be formatted" in html
    assert "*a* &lt;b&gt;" in html
    assert inspected(html).sins == []


@pytest.mark.parametrize(
    "bit",
    [
        "[",
        "![a](",
        "*",
        "_a_b",
        "`a",
        "<",
        ">",
        "[a](b ",
        "**a *b ",
        "~",
        "|",
        "&#",
        "\\",
        "$",
        "$a",
        "\\(",
        "$x$ ",
        "https://a)",
        "**（",
    ],
)
def test_no_text_takes_more_than_its_length(bit: str) -> None:
    assert grows_no_faster(lambda length: render((bit * length)[:length]), 2_500, 20_000)
