"""Colors code blocks, each within a budget of processor time."""

from __future__ import annotations

from functools import lru_cache
from html import escape
from typing import Any

from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Text

from toolsupport.work_pool.cpu_time_limit import CpuBudget, Interrupted, used

# Characters and seconds of one block, and of all blocks of a message.
LONGEST_CODE, SECONDS = 20_000, 0.1
LONGEST_OF_ALL, SECONDS_OF_ALL = 40_000, 0.5

# A closed list: the budget would hold for every lexer, but each of them is loaded and kept in memory.
_LANGUAGES = (
    "bash c c++ console cpp cs csharp css diff docker dockerfile go graphql html http ini java javascript js json "
    "jsx kotlin lua make makefile markdown md nginx php powershell py python python3 rb ruby rs rust scss sh "
    "shell sql swift toml ts tsx typescript xml yaml yml zsh"
)
LANGUAGES = frozenset(_LANGUAGES.split())
# Lexers that these use: they are compiled first, as that is not the fault of the text.
PARTS = {"html": ("javascript", "css"), "docker": ("bash", "json"), "dockerfile": ("bash", "json"), "make": ("bash",)}
FORMATTER: HtmlFormatter[str] = HtmlFormatter(nowrap=True)


class CodeColors:
    """Colors the blocks of one message, and counts what they cost."""

    def __init__(self, characters: int = 0, seconds: float = 0.0) -> None:
        self.characters, self.seconds = characters, seconds

    def color(self, source: str, language: str) -> str | None:
        """Return a block as HTML; None if coloring it takes too long."""
        if language not in LANGUAGES:
            return escape(source)
        self.characters += len(source)
        left = min(SECONDS, SECONDS_OF_ALL - self.seconds)
        if len(source) > LONGEST_CODE or self.characters > LONGEST_OF_ALL or left <= 0:
            return None
        chosen, began = lexer(language), used()
        try:
            with CpuBudget(left):
                return highlight(source, chosen, FORMATTER)
        except Interrupted:
            return None
        finally:
            self.seconds += used() - began


@lru_cache(maxsize=len(LANGUAGES))
def lexer(language: str) -> Lexer:
    """Return the lexer of one of LANGUAGES, which gives no part of a text to a lexer that the text names."""
    for part in PARTS.get(language, ()):
        lexer(part)
    if language in ("markdown", "md"):
        return get_lexer_by_name(language, stripnl=False, handlecodeblocks=False)
    found = get_lexer_by_name(language, stripnl=False)
    if language == "http":
        found.content_callback = _whole_text  # type: ignore[attr-defined]
    return found


def _whole_text(match: Any) -> Any:
    yield match.start(), Text, match.group()
