"""The process of one database query: reads it from standard input, writes the result to standard output."""

from __future__ import annotations

import json
import os
import re
import resource
import sys
from collections.abc import Callable
from dataclasses import asdict
from importlib import import_module
from types import ModuleType
from typing import Any

from toolsupport.core.sentence_codes import plain
from toolsupport.core.sentences import sentence
from toolsupport.sources import guard
from toolsupport.sources.types import DatabaseSource, FailedConnection, SourceError, UnreadableFile

MIB = 1024 * 1024
# DuckDB reserves more than it uses, and keeps to a limit of its own.
MEMORY = {"sqlite": 512 * MIB, "postgresql": 1024 * MIB, "files": 4096 * MIB}
LIMITS = (
    (resource.RLIMIT_CPU, 7),
    (resource.RLIMIT_FSIZE, 256 * MIB),
    (resource.RLIMIT_NOFILE, 512),
    (resource.RLIMIT_CORE, 0),
)


def main() -> None:
    """Answer the one query, as JSON: {"answer": …} or {"error": a text or a stored sentence}."""
    asked = json.load(sys.stdin)
    for limit, most in (*LIMITS, (resource.RLIMIT_AS, MEMORY[asked["kind"]])):
        resource.setrlimit(limit, (most, most))
    json.dump(answered(asked), sys.stdout)


def answered(asked: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a query, or the error."""
    source = DatabaseSource(asked["kind"], asked["location"], asked["forbidden"])
    try:
        return {"answer": TASKS[asked["task"]](source, asked["query"])}
    except SourceError as error:
        return {"error": plain(error.words)}
    except MemoryError:
        return {"error": plain(sentence("query_needs_memory"))}
    except FailedConnection as error:
        return {"error": plain(sentence("database_not_reached", text=_shortened(str(error), source)))}
    except UnreadableFile as error:
        return {"error": plain(sentence("file_of_tables_unreadable", text=_shortened(str(error), source)))}
    except Exception as error:
        return {"error": plain(sentence("database_refused", text=_shortened(str(error), source)))}


def run(source: DatabaseSource, query: str) -> Any:
    plan, text = guard.checked(source.kind, query)
    return asdict(engine(source.kind).query(source, text, plan))


def look(source: DatabaseSource, _: str) -> Any:
    return [asdict(shape) for shape in engine(source.kind).shapes(source)]


OWN_STATEMENT = re.compile(r"\n+LINE \d+: CREATE VIEW.*", re.DOTALL)
TASKS: dict[str, Callable[[DatabaseSource, str], Any]] = {"run": run, "look": look}


def engine(kind: str) -> ModuleType:
    """Return the module of a kind, which has the same name; only that one is imported, as some are large."""
    return import_module(f"toolsupport.sources.{kind}")


def _shortened(words: str, source: DatabaseSource) -> str:
    """Return a database's error on one line, without the address in it.

    DuckDB quotes a cut piece of the statement that names a file, in which the address is not whole.
    """
    words = OWN_STATEMENT.sub("", words)
    for place in (source.location, os.path.realpath(source.location)):
        words = words.replace(place, "…")
    return " ".join(words.split())[:500]
