"""A command and the tool that serves it do the same, to the byte: shown beside a real shell (T6, SAFETY 3.7)."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from chat.tools import BUILTINS, policy
from chat.tools.files.workspace import Workspace
from chat.tools.policy import CallOutcome
from chat.tools.tool import ToolContext
from toolsupport.core.shell_translation import equivalent
from toolsupport.core.types import ToolCall

BASH = shutil.which("bash") or pytest.skip("there is no shell to compare with", allow_module_level=True)
SIGNS = "abAB019 ._-+=,:@%^~#!?*[](){}<>|&;$`'\"\\/\n\t\réß漢😀"
TEXTS = st.text(st.sampled_from(SIGNS), max_size=24)
NAMES = st.text(
    st.sampled_from(SIGNS.replace("/", "").replace("\n", "").replace("\t", "").replace("\r", "")), max_size=8
)


def in_shell(directory: Path, command: str) -> bytes:
    """What a real shell says to it, in this directory and with nothing else."""
    environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    done = subprocess.run(
        [BASH, "--norc", "--noprofile", "-c", command],
        cwd=directory,
        env=environment,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=20,
    )
    return done.stdout


def served(workspace: Workspace, command: str) -> CallOutcome | None:
    """What the tool gives that serves the command; None where it stays a command."""
    call = equivalent(ToolCall("1", "bash", {"command": command}))
    return asyncio.run(policy.run(call, ToolContext(workspace), BUILTINS, approved=True)) if call else None


def files(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def both(command: str, before: dict[str, str]) -> tuple[dict[str, bytes], dict[str, bytes], CallOutcome] | None:
    """The files after the command: by a shell, by the tool, and what the tool said; None where it stays a command."""
    with TemporaryDirectory() as one, TemporaryDirectory() as other:
        for directory in (one, other):
            for name, content in before.items():
                Path(directory, name).write_bytes(content.encode())
        outcome = served(Workspace(Path(other)), command)
        if outcome is None:
            return None
        in_shell(Path(one), command)
        return files(Path(one)), files(Path(other)), outcome


def same(command: str, before: dict[str, str]) -> bool:
    """Whether the files are the same after a command that is served; what a tool refuses, it leaves as it was."""
    found = both(command, before)
    assume(found is not None)
    assert found is not None
    by_shell, by_tool, outcome = found
    untouched = {name: content.encode() for name, content in before.items()}
    return by_tool == (by_shell if outcome.status == "done" else untouched)


WRITES = st.sampled_from(
    ["echo {}", "echo -n {}", "echo -e {}", "echo -ne {}", "echo -eE {}", "echo {} {}", "printf {}"]
)
PRINTS = st.sampled_from(["printf '%s' {}", "printf '%s\\n' {}", "printf '%s\\n' {} {}", 'printf "a%%%s\\t" {} {}'])


@given(
    st.one_of(WRITES, PRINTS), TEXTS, TEXTS, NAMES, st.sampled_from([">", ">>"]), st.sampled_from(["", "old\n", "x"])
)
@example("printf {}", "%d\\x41", "", "f", ">", "")
def test_what_is_written(form: str, text: str, more: str, name: str, arrow: str, old: str) -> None:
    first, *others = form.split("{}")
    words = (shlex.quote(text), shlex.quote(more))
    command = first + "".join(word + rest for word, rest in zip(words, others, strict=False))
    assert same(f"{command} {arrow} {shlex.quote(name)}", {"f": old})


@given(
    TEXTS,
    st.sampled_from(["'", '"', ""]),
    st.sampled_from(["echo {}>f", "echo -e {} >> f", "printf {} > f", "echo {} {} > f"]),
)
def test_what_is_written_however_it_is_quoted(text: str, quote: str, form: str) -> None:
    assert same(form.format(f"{quote}{text}{quote}", "b"), {"f": "old"})


@given(
    TEXTS,
    st.sampled_from(["'EOF'", '"EOF"', "EOF", "\\EOF"]),
    st.sampled_from(["cat > f <<{}\n{}", "cat <<{} >>f\n{}"]),
)
def test_a_document(text: str, delimiter: str, form: str) -> None:
    assert same(form.format(delimiter, f"{text}\nEOF\n"), {"f": "old\n"})


@given(TEXTS, TEXTS, TEXTS, st.sampled_from("/|#"), st.sampled_from(["", "g"]), st.booleans())
@example("a.b", "a.b", "c&d", "/", "", True)
@example("x/y", "x/y", "z", "/", "g", True)
def test_what_is_changed(around: str, old: str, new: str, mark: str, flag: str, escape: bool) -> None:
    assume(not old or f"{around}{old}{around}".count(old) == 1)
    if escape:
        old = "".join(f"\\{sign}" if sign in ".*[]^$\\/" else sign for sign in old)
        new = "".join(f"\\{sign}" if sign in "&\\/" else sign for sign in new)
    content = f"{around}{old.replace(chr(92), '')}{around}"
    assert same(f"sed -i {shlex.quote(f's{mark}{old}{mark}{new}{mark}{flag}')} f", {"f": content})


@given(
    st.text(st.sampled_from("ab \té漢\r\n"), min_size=1, max_size=30),
    NAMES,
    st.sampled_from(["cat", "head", "tail", "head -n 2", "tail -1", "head -n1"]),
)
def test_what_is_read(content: str, name: str, verb: str) -> None:
    assume(name.strip(". ") and not name.startswith("-"))
    command = f"{verb} {shlex.quote(name)}"
    with TemporaryDirectory() as directory:
        Path(directory, name).write_bytes(content.encode())
        outcome = served(Workspace(Path(directory)), command)
        assert outcome is not None and outcome.status == "done"
        assert outcome.result.content.encode() == in_shell(Path(directory), command)


PIECES = (
    "a",
    "é",
    " ",
    "'b c'",
    '"d e"',
    '"$x"',
    '"\\d\\"q"',
    "'*'",
    "\\ ",
    "\\*",
    "*",
    "$x",
    "~",
    "{a,b}",
    "#",
    "\\\\",
    "!",
)


@given(
    st.lists(st.sampled_from((*PIECES, ">", "2>", "|", ";", "&", "=", "^", "]")), min_size=1, max_size=5).map("".join)
)
@example("a b")
def test_a_name_is_what_a_shell_takes_it_for(name: str) -> None:
    found = equivalent(ToolCall("1", "bash", {"command": f"cat {name}"}))
    if found is None or found.name != "read_file":
        return
    with TemporaryDirectory() as directory:
        said = in_shell(Path(directory), f"printf '%s\\0' {name}")
    assert said.decode() == f"{found.arguments['path']}\0"


@pytest.mark.parametrize("path", ["../secret", "a/../../secret", "link", "x" * 300, "a\tb", ".toolsupport-part-1"])
@pytest.mark.parametrize("form", ["cat {}", "echo hi > {}", "sed -i s/a/b/ {}"])
def test_what_one_is_denied_the_other_is_denied(tmp_path: Path, path: str, form: str) -> None:
    (tmp_path / "secret").write_text("a secret")
    root = tmp_path / "workspace"
    root.mkdir()
    (root / "link").symlink_to(tmp_path / "secret")
    workspace = Workspace(root)
    by_command = served(workspace, form.format(shlex.quote(path)))
    assert by_command is not None
    natively = {
        "cat {}": ToolCall("1", "read_file", {"path": path}),
        "echo hi > {}": ToolCall("1", "write_file", {"path": path, "content": "hi\n"}),
        "sed -i s/a/b/ {}": ToolCall("1", "edit_file", {"path": path, "old": "a", "new": "b"}),
    }[form]
    by_tool = asyncio.run(policy.run(natively, ToolContext(workspace), BUILTINS, approved=True))
    assert by_command.result == by_tool.result
    assert (tmp_path / "secret").read_text() == "a secret"
    if form != "echo hi > {}" or path != "link":
        assert by_tool.status == "failed"


def test_a_listing_names_what_a_shell_names(tmp_path: Path) -> None:
    for name in ("b.txt", "a/c.txt", "a/d/e"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    for command in ("ls", "ls a", "ls -la a/", "ls -R"):
        outcome = served(Workspace(tmp_path), command)
        assert outcome is not None
        names = {Path(line.split(" (")[0]).name for line in outcome.result.content.splitlines()}
        plain = command.replace("-la ", "")
        told = in_shell(tmp_path, plain).decode().splitlines()
        assert names == {line for line in told if line and not line.endswith(":")}
