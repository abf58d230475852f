"""Answers of simulated models, in Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime

from toolsupport.simulator.rules import arithmetic, fixed_texts, result_parsing
from toolsupport.simulator.rules.intents import Intent, IntentKind
from toolsupport.simulator.rules.result_parsing import ToolOutcome

WHY = "The page *Why these tools* shows why."
NOT_CALLED = "I did not call `{}`: the call before it returned nothing that I could pass on."
# A single entry that is a sentence is a remark, not an entry.
SENTENCE = re.compile(r"\w+\s+\w+\s+\w+.*[.!]$")
NUMBER = re.compile(r"[^\w\n]*\d[\d\s.,'eE+/%-]*|.{0,40}=\s*-?\d[\d.,]*", re.DOTALL)
COUNT = re.compile(r"\d{1,15}")
SHOWN_LINES = 12
SHOWN_ENTRIES = 40
SHOWN_TEXT = 4000


def without_tool(intent: Intent) -> str:
    """Answer an intent that no offered tool serves."""
    return PLAIN[intent.kind](intent)


def _fixed(text: str) -> Callable[[Intent], str]:
    return lambda intent: text


def _cannot(what: str) -> Callable[[Intent], str]:
    def say(intent: Intent) -> str:
        target = (
            f" `{intent['path'] or intent['command']}`" if intent["path"] not in ("", ".") or intent["command"] else ""
        )
        return f"I cannot {what}{target} here: no tool for it was offered to me. {WHY}"

    return say


def _compute(intent: Intent) -> str:
    try:
        return f"{_shown(intent['expression'])} = **{arithmetic.work_out(intent['expression'])}**"
    except ValueError as error:
        return f"I cannot work out {_shown(intent['expression'])}: {error}."


def _shown(expression: str) -> str:
    return expression.replace("**", "^").replace("*", " × ")


PLAIN: dict[IntentKind, Callable[[Intent], str]] = {
    IntentKind.CALL: _fixed("The tool you name was not offered to me, so I cannot call it."),
    IntentKind.LIST: _cannot("look at the folder"),
    IntentKind.READ: _cannot("read"),
    IntentKind.WRITE: _cannot("write"),
    IntentKind.APPEND: _cannot("add to"),
    IntentKind.EDIT: _cannot("change"),
    IntentKind.REMEMBER: _cannot("remember that"),
    IntentKind.RUN: _cannot("run"),
    IntentKind.QUERY: _cannot("ask a database"),
    IntentKind.TIME: _cannot("look at a clock"),
    IntentKind.CONVERT: _cannot("convert times"),
    IntentKind.COMPUTE: _compute,
    IntentKind.PROGRAM: _fixed(f"I cannot run Python here: no tool for it was offered to me. {WHY}"),
    IntentKind.REPEAT: lambda intent: intent["content"],
    IntentKind.TABLE: _fixed(fixed_texts.TABLE),
    IntentKind.CODE: _fixed(fixed_texts.CODE),
    IntentKind.LONG: _fixed(fixed_texts.LONG),
    IntentKind.ABOUT: _fixed(fixed_texts.ABOUT),
    IntentKind.GREET: _fixed(fixed_texts.GREETING),
    IntentKind.THANKS: _fixed(fixed_texts.THANKS),
    IntentKind.UNKNOWN: _fixed(fixed_texts.UNKNOWN),
}


def with_result(intent: Intent, content: str) -> str:
    """Answer an intent with its tool's result."""
    outcome = result_parsing.read(content)
    if outcome.wrong:
        return _failed(intent, outcome)
    return RESULTS.get(intent.kind, _quote)(intent, outcome)


def _failed(intent: Intent, outcome: ToolOutcome) -> str:
    target = f" with `{intent['path']}`" if intent["path"] not in ("", ".") else ""
    return f"That did not work{target}. The tool reported:\n\n> {outcome.wrong}"


def _list(intent: Intent, outcome: ToolOutcome) -> str:
    names = result_parsing.entries(outcome.text)
    if len(names) == 1 and SENTENCE.search(names[0]):
        return _quote(intent, outcome)
    place = "This folder" if intent["path"] in ("", ".") else f"The folder `{intent['path']}`"
    if not names:
        return f"{place} is empty."
    shown = "".join(f"\n- `{name}`" for name in names[:SHOWN_ENTRIES])
    more = f"\n- … and {len(names) - SHOWN_ENTRIES} more" if len(names) > SHOWN_ENTRIES else ""
    return f"{place} holds {len(names)} {'entry' if len(names) == 1 else 'entries'}:\n{shown}{more}"


def _read(intent: Intent, outcome: ToolOutcome) -> str:
    path, topic = intent["path"], intent["topic"]
    found = result_parsing.look_up(outcome.text, topic) if topic else ""
    if found:
        return f"The {topic} in `{path}` is **{found}**."
    missed = f"I see no {topic} in `{path}`. " if topic else ""
    return missed + _summary(path, outcome.text)


def _summary(path: str, text: str) -> str:
    lines = text.splitlines()
    if not lines:
        return f"`{path}` is empty."
    size = f"`{path}` has {len(lines)} {'line' if len(lines) == 1 else 'lines'}"
    if path.endswith(".csv"):
        return f"{size}:\n\n{_table(lines[:SHOWN_LINES])}"
    begins = "It begins" if len(lines) > SHOWN_LINES else "It says"
    return f"{size}. {begins}:\n\n{fenced(chr(10).join(lines[:SHOWN_LINES]), _language(path))}"


def _table(lines: list[str]) -> str:
    """Return comma-separated lines as a table; quoted commas are not supported."""
    rows = [" | ".join(cell.strip() for cell in line.replace("|", "/").split(",")) for line in lines]
    rule = " | ".join("---" for _ in lines[0].split(","))
    return "\n".join(f"| {row} |" for row in (rows[0], rule, *rows[1:]))


def _language(path: str) -> str:
    names = {"py": "python", "json": "json", "md": "markdown", "toml": "toml", "js": "javascript", "html": "html"}
    return names.get(path.rpartition(".")[2], "")


def fenced(text: str, language: str = "") -> str:
    """Return a code block with a fence longer than any inside."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text[:SHOWN_TEXT]}\n{fence}"


def _done(words: str) -> Callable[[Intent, ToolOutcome], str]:
    def say(intent: Intent, outcome: ToolOutcome) -> str:
        # Without a confirmation the answer only quotes the result.
        return words.format(path=intent["path"]) if result_parsing.confirms(outcome.text) else _quote(intent, outcome)

    return say


def _run(intent: Intent, outcome: ToolOutcome) -> str:
    if not outcome.text.strip():
        return f"I ran `{intent['command']}`. It printed nothing."
    return f"I ran `{intent['command']}`. It printed:\n\n{fenced(outcome.text.rstrip())}"


def _rows(intent: Intent, outcome: ToolOutcome) -> str:
    lines = outcome.text.partition("\n\n[")[0].splitlines()
    if not lines:
        return "The query returned no rows."
    return _extremes(lines) or f"Rows of the database:\n\n{_table(lines[: SHOWN_ENTRIES + 1])}"


def _extremes(lines: list[str]) -> str:
    """Return the highest and the lowest of at least three rows of a name and a number; "" for other rows."""
    (_, *more), *rows = [line.split(",") for line in lines]
    if len(more) != 1 or len(rows) < 3 or not all(len(row) == 2 and COUNT.fullmatch(row[1]) for row in rows):
        return ""
    low, high = (pick(rows, key=lambda row: int(row[1])) for pick in (min, max))
    return f"Highest `{more[0]}`: **{high[1]}** ({high[0]}). Lowest: **{low[1]}** ({low[0]})."


def _time(intent: Intent, outcome: ToolOutcome) -> str:
    """Return the time in a result, for its target if it has one."""
    time = result_parsing.look_up(outcome.text, "target") or outcome.text
    try:
        moment = datetime.fromisoformat(result_parsing.look_up(time, "datetime"))
    except ValueError:
        return _quote(intent, outcome)
    then = f"At {intent['clock']} in {intent['here']} it is" if intent["clock"] else "It is"
    return f"{then} **{moment:%H:%M}** in {intent['place']}, on {moment:%A, %d %B %Y}."


def _remembered(intent: Intent, outcome: ToolOutcome) -> str:
    if intent["keeper"] and outcome.text.strip() == "[]":
        return f"`{intent['keeper']}` added nothing: it has the *{intent['subject']}* already."
    if not result_parsing.confirms(outcome.text):
        return _quote(intent, outcome)
    if intent["keeper"]:
        return f"Noted: I wrote down what you said about the *{intent['subject']}*, with `{intent['keeper']}`."
    return "Noted: I will remember that in this conversation."


def _computed(intent: Intent, outcome: ToolOutcome) -> str:
    if not NUMBER.fullmatch(outcome.text.strip()):
        return _quote(intent, outcome)
    return f"{_shown(intent['expression'])} = **{outcome.text.strip()}**"


def _programmed(intent: Intent, outcome: ToolOutcome) -> str:
    if intent["column"] and NUMBER.fullmatch(outcome.text.strip()):
        return f"The sum of column `{intent['column']}` in `{intent['path']}` is **{outcome.text.strip()}**."
    return f"The program gave:\n\n{fenced(outcome.text.rstrip())}"


def _quote(intent: Intent, outcome: ToolOutcome) -> str:
    return f"The tool answered:\n\n{fenced(outcome.text.strip())}"


RESULTS: dict[IntentKind, Callable[[Intent, ToolOutcome], str]] = {
    IntentKind.LIST: _list,
    IntentKind.READ: _read,
    IntentKind.WRITE: _done("Done: I wrote `{path}`."),
    IntentKind.APPEND: _done("Done: I added it to `{path}`."),
    IntentKind.EDIT: _done("Done: I changed `{path}`."),
    IntentKind.REMEMBER: _remembered,
    IntentKind.RUN: _run,
    IntentKind.COMPUTE: _computed,
    IntentKind.PROGRAM: _programmed,
    IntentKind.QUERY: _rows,
    IntentKind.TIME: _time,
    IntentKind.CONVERT: _time,
}
