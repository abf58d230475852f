"""Answers of simulated models, in Markdown."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from toolsupport.simulator.rules import arithmetic, results, samples
from toolsupport.simulator.rules.results import Outcome
from toolsupport.simulator.rules.wishes import Kind, Wish

WHY = "The page *Why these tools* says why."
SHOWN_LINES = 12
SHOWN_ENTRIES = 40
SHOWN_TEXT = 4000


def without_tool(wish: Wish) -> str:
    """The answer to a wish that no offered tool serves."""
    return PLAIN[wish.kind](wish)


def _fixed(text: str) -> Callable[[Wish], str]:
    return lambda wish: text


def _cannot(what: str) -> Callable[[Wish], str]:
    def say(wish: Wish) -> str:
        target = f" `{wish['path'] or wish['command']}`" if wish["path"] not in ("", ".") or wish["command"] else ""
        return f"I cannot {what}{target} here: no tool for it was offered to me. {WHY}"

    return say


def _compute(wish: Wish) -> str:
    try:
        return f"{_shown(wish['expression'])} = **{arithmetic.work_out(wish['expression'])}**"
    except ValueError as error:
        return f"I cannot work out {_shown(wish['expression'])}: {error}."


def _shown(expression: str) -> str:
    return expression.replace("**", "^").replace("*", " × ")


PLAIN: dict[Kind, Callable[[Wish], str]] = {
    Kind.CALL: _fixed("The tool you name was not offered to me, so I cannot call it."),
    Kind.LIST: _cannot("look at the folder"),
    Kind.READ: _cannot("read"),
    Kind.WRITE: _cannot("write"),
    Kind.APPEND: _cannot("add to"),
    Kind.EDIT: _cannot("change"),
    Kind.REMEMBER: _cannot("remember that"),
    Kind.RUN: _cannot("run"),
    Kind.QUERY: _cannot("ask a database"),
    Kind.TIME: _cannot("look at a clock"),
    Kind.CONVERT: _cannot("convert times"),
    Kind.COMPUTE: _compute,
    Kind.PROGRAM: _fixed(f"I cannot run Python here: no tool for it was offered to me. {WHY}"),
    Kind.TABLE: _fixed(samples.TABLE),
    Kind.CODE: _fixed(samples.CODE),
    Kind.LONG: _fixed(samples.LONG),
    Kind.ABOUT: _fixed(samples.ABOUT),
    Kind.GREET: _fixed(samples.GREETING),
    Kind.THANKS: _fixed(samples.THANKS),
    Kind.UNKNOWN: _fixed(samples.UNKNOWN),
}


def with_result(wish: Wish, content: str) -> str:
    """The answer to a wish once its tool has given something back."""
    outcome = results.read(content)
    if outcome.wrong:
        return _failed(wish, outcome)
    return RESULTS.get(wish.kind, _quote)(wish, outcome)


def _failed(wish: Wish, outcome: Outcome) -> str:
    target = f" with `{wish['path']}`" if wish["path"] not in ("", ".") else ""
    return f"That did not work{target}. The tool said:\n\n> {outcome.wrong}"


def _list(wish: Wish, outcome: Outcome) -> str:
    names = results.entries(outcome.text)
    place = "This folder" if wish["path"] in ("", ".") else f"The folder `{wish['path']}`"
    if not names:
        return f"{place} is empty."
    shown = "".join(f"\n- `{name}`" for name in names[:SHOWN_ENTRIES])
    more = f"\n- … and {len(names) - SHOWN_ENTRIES} more" if len(names) > SHOWN_ENTRIES else ""
    return f"{place} holds {len(names)} {'entry' if len(names) == 1 else 'entries'}:\n{shown}{more}"


def _read(wish: Wish, outcome: Outcome) -> str:
    path, topic = wish["path"], wish["topic"]
    found = results.look_up(outcome.text, topic) if topic else ""
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
    """Lines of values between commas as a table; quoted commas are not understood."""
    rows = [" | ".join(cell.strip() for cell in line.replace("|", "/").split(",")) for line in lines]
    rule = " | ".join("---" for _ in lines[0].split(","))
    return "\n".join(f"| {row} |" for row in (rows[0], rule, *rows[1:]))


def _language(path: str) -> str:
    names = {"py": "python", "json": "json", "md": "markdown", "toml": "toml", "js": "javascript", "html": "html"}
    return names.get(path.rpartition(".")[2], "")


def fenced(text: str, language: str = "") -> str:
    """A code block, with a fence longer than any inside."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text[:SHOWN_TEXT]}\n{fence}"


def _done(words: str) -> Callable[[Wish, Outcome], str]:
    return lambda wish, outcome: words.format(path=wish["path"])


def _run(wish: Wish, outcome: Outcome) -> str:
    if not outcome.text.strip():
        return f"I ran `{wish['command']}`. It printed nothing."
    return f"I ran `{wish['command']}`. It printed:\n\n{fenced(outcome.text.rstrip())}"


def _rows(wish: Wish, outcome: Outcome) -> str:
    lines = outcome.text.partition("\n\n[")[0].splitlines()
    return f"The database says:\n\n{_table(lines[: SHOWN_ENTRIES + 1])}" if lines else "The database gave no rows."


def _time(wish: Wish, outcome: Outcome) -> str:
    """The moment that a result tells, of its target where it has one."""
    told = results.look_up(outcome.text, "target") or outcome.text
    try:
        moment = datetime.fromisoformat(results.look_up(told, "datetime"))
    except ValueError:
        return _quote(wish, outcome)
    then = f"At {wish['clock']} in {wish['here']} it is" if wish["clock"] else "It is"
    return f"{then} **{moment:%H:%M}** in {wish['place']}, on {moment:%A, %d %B %Y}."


def _remembered(wish: Wish, outcome: Outcome) -> str:
    if wish["keeper"] and outcome.text.strip() == "[]":
        return f"`{wish['keeper']}` added nothing: it knows the *{wish['subject']}* already."
    if wish["keeper"]:
        return f"Noted: I wrote down what you said about the *{wish['subject']}*, with `{wish['keeper']}`."
    return "Noted: I will remember that in this conversation."


def _computed(wish: Wish, outcome: Outcome) -> str:
    return f"{_shown(wish['expression'])} = **{outcome.text.strip()}**"


def _programmed(wish: Wish, outcome: Outcome) -> str:
    if wish["column"]:
        return f"The sum of column `{wish['column']}` in `{wish['path']}` is **{outcome.text.strip()}**."
    return f"The program gave:\n\n{fenced(outcome.text.rstrip())}"


def _quote(wish: Wish, outcome: Outcome) -> str:
    return f"The tool answered:\n\n{fenced(outcome.text.strip())}"


RESULTS: dict[Kind, Callable[[Wish, Outcome], str]] = {
    Kind.LIST: _list,
    Kind.READ: _read,
    Kind.WRITE: _done("Done: I wrote `{path}`."),
    Kind.APPEND: _done("Done: I added it to `{path}`."),
    Kind.EDIT: _done("Done: I changed `{path}`."),
    Kind.REMEMBER: _remembered,
    Kind.RUN: _run,
    Kind.COMPUTE: _computed,
    Kind.PROGRAM: _programmed,
    Kind.QUERY: _rows,
    Kind.TIME: _time,
    Kind.CONVERT: _time,
}
