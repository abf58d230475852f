"""State that a process keeps for all of its chats is listed here, with the reason why one cannot affect another."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("chat", "toolsupport")
MAKERS = ("dict", "list", "set", "OrderedDict", "defaultdict", "WeakKeyDictionary", "deque", "Counter")

# module.name → why it is the same whichever conversation wrote it.
KNOWN = {
    "chat.mcp.mcp_hosts._hosts": "connections of this process; each call asks the rows whether it may be made",
    "chat.websocket.idempotency._handled": "keyed by person and client_id",
    "chat.turns.silence_report._looks": "keyed by address and model: answers that begin together ask its server once",
    "chat.turns.silence_report._last_parts": "keyed by address and model: whether a server has a model in memory",
    "chat.turns.runner._runner": "the runner of this process; its turns are kept by their ids",
    "chat.tools.sandbox.python_interpreter._ended": "when a program stepped last, for the exit of this process",
    "toolsupport.work_pool.cpu_time_limit._ends": "the budgets of the one piece of work that a worker process does",
    "toolsupport.core.tokenize._GROUPS": "filled while the module is imported, and never after that",
    "toolsupport.services.doctor._migrated": "the migrations that this code has: the same for everybody",
    "toolsupport.services.serve_lock._held": "the lock of this process on its database",
    "toolsupport.services.embeddings._failed": "keyed by the address that did not answer",
    "toolsupport.services.embeddings._known": "keyed by model and text: a vector is a function of both",
    "toolsupport.providers.http_client._transports": "keyed by the event loop",
    "toolsupport.core.redaction._known": "secrets to be left out everywhere; only grows",
    "toolsupport.registry.mcp.mcp_servers._specs": "keyed by server, name and digest, of which a spec is a function",
    "toolsupport.registry.models.request_context._drafts": "keyed by model, compared with all that it is made from",
    "toolsupport.registry.models.request_context._drafts_of_programs": "the same, for the tools of programs",
    "toolsupport.registry.models.profile_cache._remembered": "keyed by the id, compared with the stored columns",
    "toolsupport.registry.knowledge.effective_values._folds": "keyed by model and chat, compared with the newest claim",
    "toolsupport.services.tool_search._indexes": "keyed by all entries of the index",
    "toolsupport.refused_settings._refused": "keyed by address and model: which settings its server refuses",
    "toolsupport.loop_share._shares": "keyed by the event loop; costly steps take turns by person",
    "toolsupport.loop_share._latest": "one of these, used only for its own event loop",
    "toolsupport.config.traces._recorder": "the spans of this process; each begins within that of its own task",
    "toolsupport.services.background_jobs._work": "the supervisor of this process",
}


def state(tree: ast.Module) -> Iterator[str]:
    """Names of a module that functions rebind, and containers that a module makes to be filled later."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            yield from node.names
    for statement in tree.body:
        if not isinstance(statement, ast.Assign | ast.AnnAssign):
            continue
        made = statement.value
        empty = isinstance(made, ast.Dict | ast.List | ast.Set) and not ast.unparse(made).strip("{}[]")
        called = (
            isinstance(made, ast.Call) and isinstance(made.func, ast.Name) and made.func.id in MAKERS and not made.args
        )
        for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
            if isinstance(target, ast.Name) and (empty or called):
                yield target.id


def found() -> set[str]:
    names = set()
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*.py")):
            inside = file.relative_to(ROOT).with_suffix("").parts
            if "migrations" in inside or "simulator" in inside:
                continue
            module = ".".join(inside)
            names |= {f"{module}.{name}" for name in state(ast.parse(file.read_text()))}
    return names


def test_state_of_a_process_is_named_with_its_reason() -> None:
    assert found() == set(KNOWN)


def test_the_search_finds_state() -> None:
    code = (
        "a = {}\nb: dict[str, int] = {}\nc = OrderedDict()\nd = [1]\n_e = None\n\ndef f():\n    global _e\n    _e = 1\n"
    )
    assert set(state(ast.parse(code))) == {"a", "b", "c", "_e"}
