"""A call that a reply only shows is never made, in any format and any pieces; one that is meant always is."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.examples import at_least
from tests.tables import every
from tests.toolsupport.core.formats.replies import calls, read, text
from tests.toolsupport.core.formats.test_properties import in_pieces
from toolsupport.core.events import Event, TextDelta
from toolsupport.core.formats import FORMATS, parser
from toolsupport.core.types import ToolCall, ToolSpec

PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOLS = (
    ToolSpec("delete_file", "Deletes a file.", PATH),
    ToolSpec("python_execution", "Runs Python.", {"type": "object", "properties": {"code": {"type": "string"}}}),
)
NAMES = sorted(FORMATS)
# Formats whose own form is a fence: a fence at the end of a reply is their call.
FENCED = ("pure_json", "llama3_json", "xlam", "tool_code_python", "code_mode")
# Formats that may be written in a fence if the reply is nothing else.
ALONE = ("pythonic", "llama4_pythonic", "lfm2_pythonic", "olmo3_pythonic")
OWN_FENCE = ("tool_code_python", "code_mode")

SHOWN = {
    "a fence before other prose": "Write this:\n```\n@\n```\nThen it is gone.",
    "a fence with a language": "It is written so:\n\n```xml\n@\n```\n\nShall I?",
    "a fence of tildes": "Look:\n~~~json\n@\n~~~\nThat is all.",
    "a fence of four": "Look:\n````md\n@\n````\nThat is all.",
    "an indented fence": "1. Write:\n   ```text\n@\n   ```\n2. Wait.",
    "a fence that never ends": "This is text, not a call:\n~~~text\n@\n",
    "words and a call in a fence": "```text\nYou write\n@\n```",
    "a fence that begins within a line": "So: ```xml\n@\n``` and wait.",
    "backquotes": "You would write `@` for that.",
    "backquotes at the end": "You would write `@`",
    "two backquotes": "That is ``@`` in Markdown.",
    "three backquotes on a line": "That is ```@``` in Markdown.",
    "straight quotes": 'The answer is "@" then.',
    "straight quotes at the end": 'Then it writes: "@"',
    "a quoted sentence": 'It answers: "Let me see. @"',
    "single quotes": "The text '@' is a call.",
    "curly quotes": "The text “@” is a call.",
    "a sentence in curly quotes": "It answers: “Let me see. @”",
    "single curly quotes": "The text ‘@’ is a call.",
    "German quotes": "Schreib „@“ dafür.",
    "guillemets": "Écrivez « @ » pour cela.",
    "reversed guillemets": "Schreib »@« dafür.",
    "Japanese quotes": "「@」と書きます。",
    "the middle of a sentence": "Use @ to delete a file.",
    "the end of a sentence": "To delete a file you call @.",
    "the middle of a sentence, lines later": "Hello.\n\nIf you write @ it is gone.",
    "explained behind it": "@ is how you call it.",
    "explained in Chinese": "@是删除文件的方法。",
    "a Markdown quotation": "> @",
    "a Markdown quotation after words": "The file says:\n> @\n\nThat is strange.",
    "a quotation in a list": "- > @",
    "an HTML comment": "<!-- @ -->",
    "an HTML comment over lines": "<!--\nlater:\n@\n-->\nHello.",
    "code in HTML": "Write <code>@</code> for it.",
    "preformatted HTML": "<pre>\n@\n</pre>",
    "an example without quotes": "For example you would write: @",
    "an example on the next line": "It looks like this:\n\n@",
    "an announced example": "For example:\n@\n",
    "a cell of a table": "| what | how |\n|---|---|\n| delete | @ |\n",
    "three quotes on lines": 'Text:\n"""\n@\n"""\nDone.',
    "emphasis": "**@** deletes it.",
    "spaces that do not break": "Use\u00a0@\u00a0to delete it.",
    "an arrow": "delete → @ → gone",
    "a fence with Windows' line ends": "So:\r\n```json\r\n@\r\n```\r\nDone.\r\n",
    "an example in bold": "**Example:**\n\n@\n",
    "an example call": "Here is an example of a tool call:\n@",
    "what one would write": "To delete it you would write:\n@",
    "an element behind it": "Write @ <b>only</b> if asked.",
    "a line break in HTML": "The call @<br>deletes it.",
    "a pipe behind it": "Use @ | jq to see it.",
    "columns": "a | @ | b",
    "a bracket behind it": "The entry @] is broken.",
    "in brackets": "[@] is shown in the log.",
    "a Chinese comma": "@，这是调用。",
    "a Chinese bracket": "@（示例）",
    "a Chinese semicolon": "@；不要运行",
    "an Arabic comma": "@، هذا مثال",
    "an Arabic semicolon": "@؛ لا تشغله",
    "a danda": "@। यह मत चलाओ",
    "an ellipsis": "@… and so on",
    "a semicolon": "@; this is it",
    "an ampersand": "@ & others are alike",
    "a quotation behind it": '@ "as it is"',
    "a comment behind it": "@ // example only",
    "backquotes behind it": "@ `is` it",
    "an emoji behind it": "@ 👈 write this",
    "struck out": "~~@~~ was removed.",
    "a sample": "Sample call:\n@\n",
    "a template": "Template:\n@\n",
    "what it would be": "The call would be:\n@\n",
    "what was not called": "I would have called:\n@\n",
    "e.g. at the end of a line": "Write it on one line, e.g.\n@\n",
    "a heading": "## Example\n\n@\n\n## Notes\nnone",
    "German": "Ein Aufruf sieht so aus:\n@\n",
    "Portuguese": "Um exemplo de chamada:\n@\n",
    "Russian": "Пример вызова:\n@\n",
    "Turkish": "Örneğin:\n@\n",
    "Vietnamese": "Ví dụ:\n@\n",
    "Chinese": "格式如下：\n@\n",
    "Japanese": "呼び出しの例：\n@\n",
    "Korean": "예를 들어:\n@\n",
    "Arabic": "على سبيل المثال:\n@\n",
    "Hindi": "उदाहरण:\n@\n",
    "a fence as follows": "A call looks as follows:\n```\n@\n```",
    "a warning": "Do not run this:\n@",
    "a wrong call": "This would be wrong:\n\n@\n",
    "a refused call": "I must not run @",
    "a cell in HTML": "<td>@</td>",
    "an element around it": "<sample>@</sample>",
    "a transcript": "User: delete it\nAssistant: @\nTool: done",
    "a line of a log": "2024-05-01 12:00 INFO @",
    "a line of a log in brackets": "[2024-05-01T12:00:03Z] @",
    "a time in a log": "The log line was:\n10:00:01 INFO output: @\nwhich is why it failed.",
    "a level": "ERROR: @",
    "a level in brackets": "[INFO] @",
    "a sentence that goes on below": "The text\n@\nis what the model writes.",
    "a sentence that begins with it and goes on below": "@\nis how you call it.",
    "a sentence that goes on below, in Windows": "The text\r\n@\r\nis what it writes.",
    "a sentence that goes on below, in Chinese": "这段文字\n@\n是模型写的。",
    "quotes alone on their lines": '"\n@\n"\nis what it said.',
    "single quotes alone on their lines": "'\n@\n'\nis it.",
    "a quotation over lines": 'He wrote: "first line\n@\nlast line" and left.',
    "a quotation that ends below": 'The file says "delete it:\n@"\nDone.',
    "a quotation in single quotes over lines": "It said 'now do\n@\nor else'.\n",
    "a quotation that closes on a line of its own": 'It says "Hello.\n@\n" and more',
    "French": "Exemple :\n@",
    "words in round brackets": "It works (see @).",
    "an assignment": "raw = @;\nprint(raw)",
    "words in square brackets": "[see @]",
    "words in front of a bracket": "Note [@].",
    "in braces": "{see @}",
    "a footnote": "[^1]: @",
    "refused with a curly apostrophe": "Don’t call @",
    "to avoid": "Avoid calling @",
    "what to write instead": "Write rm instead of @",
    "wrong": "Wrong: @",
    "a bad one": "Bad:\n@\n\nGood:\nrm a.txt",
    "a refusal": "I refuse to run this: @",
    "refused in German": "Führe das nicht aus:\n@",
    "refused in French": "N'exécutez pas ceci :\n@",
    "refused in Spanish": "No ejecutes esto:\n@",
    "refused in Italian": "Non eseguire questo:\n@",
    "refused in Portuguese": "Não execute isto:\n@",
    "refused in Chinese": "请勿执行以下调用：\n@",
    "refused in Japanese": "これを実行しないでください：\n@",
    "refused in Korean": "이것을 실행하지 마세요:\n@",
    "refused in Russian": "Не запускайте это:\n@",
    "refused in Polish": "Nie uruchamiaj tego:\n@",
    "refused in Dutch": "Voer dit niet uit:\n@",
    "refused in Turkish": "Bunu çalıştırma:\n@",
    "what one would write, shortened": "You'd write: @",
    "what a model would answer": "A model would answer: @",
    "supposed": "Suppose the model writes:\n@",
    "as follows": "The pattern is as follows:\n@",
    "how to": "How to call it:\n@",
    "how one would": "Here is how you would do that:\n@",
    "a title": "**Example**\n@",
    "a numbered example": "Example 1:\n@",
    "the syntax": "Syntax: @",
    "Swedish": "Till exempel: @",
    "Czech": "Například: @",
    "Indonesian": "Contoh: @",
    "Hebrew": "לדוגמה: @",
    "Ukrainian": "Наприклад: @",
    "in CDATA": "<![CDATA[@]]>",
    "a document": "<document>\nSome text.\n@\n</document>",
    "a tool's result": "<tool_response>\n@\n</tool_response>",
    "folded": "<details><summary>Example</summary>\n\n@\n\n</details>",
    "a quote with spaces": '" @ "',
    "heavy quotes": "❝@❞",
    "LaTeX": "\\texttt{@}",
    "a text in YAML": "text: |\n  @\n",
    "a text of a shell": "cat <<EOF\n@\nEOF\n",
    "a comment in code": "x = 1  # @",
    "a prompt of a shell": "$ @",
    "code in another markup": "[code]\n@\n[/code]",
    "a comma below": "First,\n@\n, then.",
    "a request that is repeated": "You asked me to run @",
    "what somebody wrote": "The user wrote: @",
    "what a file says": "The README says:\n\n@\n",
    "what a user wrote": "**User:** @\n\n**Assistant:** done",
    "a transcript over lines": "User: hi\n\nAssistant:\n@\n",
}
# A block of code in Markdown; the grammar of `pythonic` takes the spaces in front of a call itself.
SHOWN_INDENTED = "It is written so.\n\n    @\n\nShall I?"
MADE = {
    "nothing else": "@",
    "line breaks around it": "\n\n@\n",
    "text on lines before": "Let me check.\n@",
    "a colon before": "Let me check:\n\n@",
    "text before on its line": "Let me check. @",
    "a line break and prose behind": "@\nI wait for the result.",
    "text before, prose behind": "Let me check.\n@\n\nI wait for the result.",
    "text before on its line, prose on the next": "Let me check. @\nI wait for the result.",
    "an apostrophe before": "I'll check; it's Anna's file.\n@",
    "quotes before": 'You said "delete it" and “now”.\n@',
    "inches before": 'For the 15" screen:\n@',
    "backquotes before": "I delete `a.txt` now.\n@",
    "a fence before": "The file:\n```\nx = 1\n```\nI delete it.\n@",
    "a quotation before": "> delete it\n\nYes.\n@",
    "a comment before": "<!-- x -->\n@",
    "a list before": "1. look\n2. delete\n\n@",
    "an end mark behind": "@<|im_end|>",
    "an offer to look": "I can look at it: @",
    "a guess": "It looks like the file is there:\n@",
    "an example file": "I should write an example file:\n@",
    "a call that is announced": "Sure! Here is the call:\n\n@\n\nIt deletes the file.",
    "a German example file": "Ich lösche die Beispieldatei.\n@",
    "a German example file on the line": "Ich lösche die Beispieldatei. @",
    "a quote left open above": 'You said "delete it\n@',
    "a negation that means something else": "I do not have the file yet. @",
    "a bracket left over": "@]\n",
    "a bold word before": "**Action:** @",
    "a quote left open above, and text behind": 'You said "delete it\n@\nI wait for it.\n',
    "a quote left open above, and another quotation": 'You said "delete it\n@\n\nIt is "gone" now.',
    "a list behind": "@\n- one\n",
    "bold words behind": "@\n**Now** I wait.",
    "a question in the next paragraph": "@\n\nis it so?",
    "a time of day": "At 12:00 I look.\n@",
    "indented": "1. I look:\n   @\n",
    "a tag named in prose": "I read the <file> argument.\n@",
    "a negation of a noun": "I see no users in the log:\n@",
    "an answer that should be somewhere": "It should be in a.txt: @",
    "a heading and a step": "## Step 1\n@",
    "a thought": "<think>For example:</think>@",
    "a thought that quotes": '<think>The user said "delete it</think>\n@',
    "Chinese before": "好的，我来删除：\n@",
    "Russian before": "Удаляю файл.\n@",
    "a use that is announced": "I check disk usage.\n@",
    "what the user says, and a decision": "The user says it is old. I delete it:\n@",
}
# Formats without marks are looked for at the beginning of a line only.
NOT_WITHIN_A_LINE = ("code_mode", "tool_code_python", "glm4_name_newline_json", "functionary_v32")


def written(name: str) -> str:
    code = {"code": "delete_file('a.txt')"}
    asked = (
        ToolCall("1", "python_execution", code)
        if name == "code_mode"
        else ToolCall("1", "delete_file", {"path": "a.txt"})
    )
    return FORMATS[name].write_calls([asked])


def placed(name: str, frame: str) -> str:
    """The call in a frame; in a Markdown quotation each of its lines is quoted."""
    call = written(name)
    return frame.replace(
        "@", call.replace("\n", "\n> ") if frame.lstrip("- ").startswith(">") and "@" in frame.split("\n")[0] else call
    )


def in_context(name: str, frame: str) -> list[Event]:
    return read(name, [placed(name, frame)], tools=TOOLS)


@pytest.mark.parametrize("name", NAMES)
@every("where", SHOWN)
def test_what_is_shown_is_not_made(name: str, where: str) -> None:  # F5
    reply = placed(name, SHOWN[where])
    if name in FENCED and where == "a fence that never ends":
        return  # it is the fence at the end of the reply, which is their call
    events = read(name, [reply], tools=TOOLS)
    assert calls(events) == []
    if name not in ("harmony", "kimi_k3", "command_r7b", "functionary_v32"):
        assert text(events) == reply


@pytest.mark.parametrize("name", NAMES)
@every("where", MADE)
def test_what_is_meant_is_made(name: str, where: str) -> None:  # F3
    frame = MADE[where]
    if (name in OWN_FENCE and ("@\n" in frame.rstrip() or "@]" in frame)) or (
        name in NOT_WITHIN_A_LINE and (" @" in frame)
    ):
        return
    assert len(calls(in_context(name, frame))) == 1


CASES = st.tuples(st.sampled_from(NAMES), st.sampled_from([*SHOWN.values(), *MADE.values()]))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "pythonic"])
def test_indented_code_is_shown(name: str) -> None:
    assert calls(in_context(name, SHOWN_INDENTED)) == []
    if name not in NOT_WITHIN_A_LINE:
        assert len(calls(in_context(name, SHOWN_INDENTED.replace("It is written so.", "1. Look.")))) == 1


@given(
    case=CASES,
    other=CASES,
    between=st.sampled_from(["", " ", "\n", "\n\n"]),
    cuts=st.lists(st.integers(0, 400), max_size=12),
)
def test_pieces_never_matter(case: tuple[str, str], other: tuple[str, str], between: str, cuts: list[int]) -> None:
    name, frame = case
    reply = placed(name, frame) + between + placed(name, other[1])
    whole = read(name, [reply], tools=TOOLS)
    assert read(name, list(reply), tools=TOOLS) == whole
    assert read(name, in_pieces(reply, cuts), tools=TOOLS) == whole


# Frames that nothing closes, and formats whose own fences or brackets close those of a frame.
NEVER_CLOSED = ("a fence that never ends", "a fence that begins within a line")
WITHIN_FENCES = ("command_r_plus", "deepseek_v3", *NOT_WITHIN_A_LINE, *ALONE, *FENCED, "phi4_mini", "firefunction")
PLAIN = sorted(set(NAMES) - {*WITHIN_FENCES, "mistral_json"})
# ReAct's input ends with its line, backquotes included: they close nothing, and the call below is asked about.
STAYS_OPEN = ("react", "three backquotes on a line")


@settings(max_examples=at_least(400))
@given(name=st.sampled_from(PLAIN), where=st.sampled_from(sorted({*SHOWN} - {*NEVER_CLOSED})), seen=st.booleans())
def test_a_mention_does_not_decide_about_a_call_below_it(name: str, where: str, seen: bool) -> None:
    assume((name, where) != STAYS_OPEN)
    before = "<think>I show it first.</think>\n" if seen else "I show it first.\n\n"
    reply = before + placed(name, SHOWN[where])
    assert calls(read(name, [reply], tools=TOOLS)) == []
    assert len(calls(read(name, [f"{reply}\n\nNow I do it.\n\n{written(name)}"], tools=TOOLS))) == 1


CALL = '<tool_call>{"name": "delete_file", "arguments": {"path": "a.txt"}}</tool_call>'
JSON_CALL = '{"name": "delete_file", "arguments": {"path": "a.txt"}}'


@pytest.mark.parametrize(
    ("name", "reply", "made"),
    [
        ("hermes", f"{CALL} I wait for the result.", 1),  # a new sentence
        ("hermes", f"{CALL}, which deletes it", 0),
        ("pure_json", f"{JSON_CALL} That is how.", 0),
        ("pure_json", f"{JSON_CALL}. That is how.", 0),
        ("pure_json", f"{JSON_CALL};", 1),
        ("hermes", f"{CALL}{CALL} is how", 0),
        ("hermes", f"{CALL}\n{CALL} is how", 1),
        ("hermes", f"Use {CALL} or {CALL}", 0),
        ("hermes", f"Write `{CALL}` for it.\n{CALL}", 1),
        ("hermes", f"```\n{CALL}\n```\n{CALL}", 1),
        ("hermes", f"Let me check. {CALL}{CALL}", 2),
        ("hermes", f"```xml\n{CALL}\n```", 0),
        ("pythonic", "```python\n[delete_file(path='a.txt')]\n```", 1),
        ("pythonic", "Sure:\n```python\n[delete_file(path='a.txt')]\n```", 0),
        ("pure_json", f"Sure:\n```json\n{JSON_CALL}\n```\n", 1),
        ("pure_json", f"```json\n{JSON_CALL}\n{JSON_CALL}\n```", 2),
        ("pure_json", f"```json\n{JSON_CALL}\n{JSON_CALL}\n```\nDone.", 0),
        ("hermes", f"<tool_call>\n```json\n{JSON_CALL}\n```\n</tool_call>\nI wait.", 1),
    ],
)
def test_each_call_is_judged_on_its_own(name: str, reply: str, made: int) -> None:
    assert len(calls(read(name, [reply], tools=TOOLS))) == made


def test_a_mention_that_cannot_be_read_is_only_text() -> None:
    reply = 'Write `<tool_call>{"name": "delete_file", "arguments": …, "}</tool_call>` for it.'
    events = read("hermes", [reply], tools=TOOLS)
    assert text(events) == reply and all(isinstance(event, TextDelta) for event in events)


@every("name", NAMES)
def test_a_quoted_call_is_not_made_wherever_the_reply_was_cut(name: str) -> None:
    quoted = "E.g., " + written(name)
    whole = read(name, [quoted], tools=TOOLS)
    for end in (*range(6, len(quoted), 17), *range(len(quoted) - 20, len(quoted) + 1)):
        reader = parser(name, TOOLS)
        events = [*reader.feed(quoted[:end]), *reader.flush(cut=True)]
        assert calls(events) == calls(whole) == [], quoted[:end]
