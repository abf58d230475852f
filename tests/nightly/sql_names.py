"""Random statements for PostgreSQL: our lexer sees every call of a function that PostgreSQL makes."""

from __future__ import annotations

import argparse
import random
from contextlib import suppress

import psycopg

from tests.databases import database
from toolsupport.sources import postgresql_lexer
from toolsupport.sources.types import SourceError

SETTINGS = "-c standard_conforming_strings=on -c statement_timeout=500 -c client_min_messages=error"
LETTERS = ["a", "\u20ac", "$", "$$", "_", "1", "\u00e9", "\u00a0", "\u0663", "u&", "e", "E", "x"]
TEXTS = ["'%s'", "E'%s'", "$$%s$$", "$\u00e9$%s$\u00e9$", "$a$%s$a$", "n'%s'", "U&'%s'", "'%s'\n'%s'", "E'%s'\n'%s'"]
INSIDE = ["a", "\\", "''", "\\'", "--", "/*", "*/", "$$", "$", '"', "\u00e9"]
GAPS = ["", " ", "\n", "/* */", "/*'*/", "/*/* */*/", "--'\n", "--$$\n", "/*$$*/"]
QUOTED = ["a", "''", "$$", "/*", 'a""b', "--"]


def statement(chance: random.Random) -> str:
    """A list of texts, calls of the function `mark` and names, with comments between them."""

    def some(parts: list[str], least: int, most: int) -> str:
        return "".join(chance.choices(parts, k=chance.randint(least, most)))

    def value() -> str:
        text = chance.choice(TEXTS).replace("%s", some(INSIDE, 0, 3))
        return chance.choice([text, text, "mark()", f"mark{chance.choice(GAPS)}()", '"mark"()', "1", "NULL"])

    def column() -> str:
        joined = f"{chance.choice(GAPS)}||{chance.choice(GAPS)}".join(value() for _ in range(chance.randint(1, 3)))
        return joined + chance.choice(["", f" AS {some(LETTERS, 1, 4)}", f' AS "{chance.choice(QUOTED)}"'])

    gaps = f"{chance.choice(GAPS)},{chance.choice(GAPS)}"
    return "SELECT " + gaps.join(column() for _ in range(chance.randint(1, 4)))


def is_seen(text: str) -> bool:
    """Whether the call is seen, or the statement refused."""
    try:
        return any(name.called and name.text == "mark" for name in postgresql_lexer.names(text))
    except SourceError:
        return True


def run(times: int, seed: int = 1) -> tuple[int, list[str]]:
    """How many statements ran in which no call was seen, and those of them that called."""
    chance, ran, missed = random.Random(seed), 0, list[str]()
    with database() as address, psycopg.connect(address, autocommit=True, options=SETTINGS) as server:
        server.execute("CREATE SEQUENCE marks")
        server.execute("CREATE FUNCTION mark() RETURNS text LANGUAGE sql AS $$ SELECT nextval('marks')::text $$")
        for text in (statement(chance) for _ in range(times)):
            if not is_seen(text):
                with suppress(psycopg.Error):
                    server.execute(text.encode(), binary=True)
                    ran += 1
                    if server.execute("SELECT FROM marks WHERE is_called").rowcount:
                        missed.append(text)
                        server.execute("SELECT setval('marks', 1, false)")
    return ran, missed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=100_000)
    ran, missed = run(parser.parse_args().times)
    print(f"{ran} statements ran without a call that was seen; {len(missed)} of them called", *missed, sep="\n")
