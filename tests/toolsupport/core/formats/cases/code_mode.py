"""Replies of models that write code to be run instead of calls."""

from __future__ import annotations

from tests.toolsupport.core.formats.cases.case import Case

FORMATS = ("code_mode",)


def run(code: str) -> list[tuple[str, dict[str, object]]]:
    """The call, for code as it stands in the fence: the last line break belongs to the fence."""
    return [("python_execution", {"code": code.removesuffix("\n").removesuffix("\r")})]


CASES = [
    Case("a fence and nothing else", "```python\nprint(1)\n```", run("print(1)\n"), mended=False),
    Case("a short name of the language", "```py\nprint(1)\n```", run("print(1)\n")),
    Case("the language in capitals", "```Python\nprint(1)\n```", run("print(1)\n")),
    Case("a name of notebooks", "```python3\nprint(1)\n```", run("print(1)\n")),
    Case("tool_code", "```tool_code\nprint(1)\n```", run("print(1)\n")),
    Case(
        "text before",
        "I compute.\n```python\nx = 2\nprint(x)\n```\n",
        run("x = 2\nprint(x)\n"),
        text="I compute.\n\n",
    ),
    Case(
        "text behind: the program is shown",
        "I compute.\n```python\nx = 2\nprint(x)\n```\nWait.",
        text="I compute.\n```python\nx = 2\nprint(x)\n```\nWait.",
    ),
    Case(
        "two fences are two calls",
        "```python\na = 1\n```\n\n```python\nprint(a)\n```",
        [*run("a = 1\n"), *run("print(a)\n")],
        text="\n\n",
    ),
    Case(
        "a fence before words and one at the end",
        "```python\na = 1\n```\nthen\n```python\nprint(a)\n```",
        run("print(a)\n"),
        text="```python\na = 1\n```\nthen\n",
    ),
    Case("the fence is not closed", "```python\nprint(1)\n", run("print(1)\n"), mended=True),
    Case("the last line is not ended", "```python\nprint(1)```", run("print(1)"), mended=None),
    Case("line breaks of Windows", "```python\r\nprint(1)\r\n```\r\n", run("print(1)\r\n")),
    Case("three backquotes in a text", "```python\nprint('``` is a fence')\n```", run("print('``` is a fence')\n")),
    Case(
        "three backquotes in a text of several lines",
        '```python\ns = """\n```js\nx\n```\n"""\nprint(s)\n```',
        run('s = """\n```js\nx\n```\n"""\nprint(s)\n'),
    ),
    Case("a comment with backquotes", "```python\n# see ```x```\nprint(1)\n```", run("# see ```x```\nprint(1)\n")),
    Case("another language is text", "```js\nalert(1)\n```", text="```js\nalert(1)\n```"),
    Case("no language is text", "```\nprint(1)\n```", text="```\nprint(1)\n```"),
    Case("Python inside of another fence is text", "```md\n```python\n```", text="```md\n```python\n```"),
    Case("the word behind backquotes", "A ```python fence runs.", text="A ```python fence runs."),
    Case("an empty fence", "```python\n```", text="```python\n```"),
    Case("the mark of Llama", "<|python_tag|>print(1)", run("print(1)")),
    Case(
        "the mark of Llama behind text",
        "Well.\n<|python_tag|>import math\nprint(math.pi)",
        run("import math\nprint(math.pi)"),
        text="Well.\n",
    ),
    Case("the mark of Llama, ended", "<|python_tag|>print(1)<|eom_id|>", run("print(1)")),
    Case("the mark of Llama alone", "<|python_tag|>", text="<|python_tag|>"),
    Case("emoji and quotes", '```python\nprint("🫖 \\"x\\"")\n```', run('print("🫖 \\"x\\"")\n')),
    Case(
        "markers of other formats in the code",
        "```python\nprint('<tool_call></tool_call>[TOOL_CALLS]')\n```",
        run("print('<tool_call></tool_call>[TOOL_CALLS]')\n"),
    ),
    Case("no code", "It is four.", text="It is four."),
    Case("nothing", "", text=""),
    Case("half a fence", "Then ``", text="Then ``"),
    Case("half a language", "Then\n```pyth", text="Then\n```pyth"),
    Case("thinking first", "<think>Compute.</think>```python\nprint(1)\n```", run("print(1)\n"), thinking="Compute."),
    Case(
        "a draft in thinking",
        "<think>\n```python\nprint(0)\n```\n</think>\n```python\nprint(1)\n```",
        run("print(1)\n"),
    ),
    Case("indented code", "```python\nif 1:\n    print(1)\n\n\n```", run("if 1:\n    print(1)\n\n\n")),
    Case("long code", "```python\n%s```" % ("x = 1\n" * 500), run("x = 1\n" * 500)),
    Case("an indented fence", "1. so:\n   ```python\n   print(1)\n   ```", run("print(1)\n"), text="1. so:\n"),
]
