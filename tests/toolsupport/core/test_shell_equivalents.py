"""Commands that are read as calls of file tools; every other one stays a command (T6)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.tables import every
from toolsupport.core.shell_equivalents import MOST_PRINTED, ShellCall, understood


def read(path: str, **more: int) -> ShellCall:
    return "read_file", {"path": path, **more}


def listing(path: str, recursive: bool = False) -> ShellCall:
    return "list_directory", {"path": path} | ({"recursive": True} if recursive else {})


def write(path: str, content: str, append: bool = False) -> ShellCall:
    return "write_file", {"path": path, "content": content} | ({"append": True} if append else {})


def edit(path: str, old: str, new: str) -> ShellCall:
    return "edit_file", {"path": path, "old": old, "new": new}


UNDERSTOOD = {
    "cat config.json": read("config.json"),
    " cat\tsrc/app.py \n": read("src/app.py"),
    "cat 'my notes.md'": read("my notes.md"),
    'cat "my notes.md"': read("my notes.md"),
    "cat my\\ notes.md": read("my notes.md"),
    "cat ./a'b'\"c\"": read("./abc"),
    "head notes.md": read("notes.md", first=10),
    "head -n 3 notes.md": read("notes.md", first=3),
    "head -5 notes.md": read("notes.md", first=5),
    "tail -n20 notes.md": read("notes.md", last=20),
    "type notes.md": read("notes.md"),
    "TYPE src\\app.py": read("src/app.py"),
    'type "my notes.md"': read("my notes.md"),
    "ls": listing("."),
    "ls -la src/": listing("src"),
    "ls -R": listing(".", recursive=True),
    "ls src -lR": listing("src", recursive=True),
    "dir": listing("."),
    "dir /s src\\old": listing("src/old", recursive=True),
    "dir src /B": listing("src"),
    "echo hello there > a.txt": write("a.txt", "hello there\n"),
    "echo -n 'x  y'>a.txt": write("a.txt", "x  y"),
    "echo -e 'a\\tb\\n' > a.txt": write("a.txt", "a\tb\n\n"),
    "echo 'a\\tb' >> a.txt": write("a.txt", "a\\tb\n", append=True),
    "echo > a.txt": write("a.txt", "\n"),
    "printf '%s\\n' 'one' two > a.txt": write("a.txt", "one\ntwo\n"),
    "printf 'a%%\\n' >> 'b c.txt'": write("b c.txt", "a%\n", append=True),
    "printf '%s-%s;' 1 2 3 > f": write("f", "1-2;3-;"),
    "cat > a.txt <<'EOF'\n$HOME `x`\\n\nEOF": write("a.txt", "$HOME `x`\\n\n"),
    "cat <<END >> a.txt\nplain\n\nEND\n": write("a.txt", "plain\n\n", append=True),
    "cat > a.txt <<EOF\nEOF": write("a.txt", ""),
    "sed -i 's/2.4/2.5/' f": None,
    "sed -i 's/2\\.4/2.5/' f": edit("f", "2.4", "2.5"),
    "sed -i 's/a/b/g' 'my f'": edit("my f", "a", "b"),
    "sed -i -e 's|a/b|c|' f": edit("f", "a/b", "c"),
}
# Each of these means something else to a shell than its letters, or something that no tool for files does.
COMMANDS = (
    "",
    "cat",
    "pwd",
    "cat a b",
    "cat -n a",
    "cat < a",
    "cat a > b",
    "cat *.md",
    "cat $FILE",
    "cat ~/a",
    "cat a | head",
    "cat a; rm b",
    "cat a && rm b",
    "cat a\nrm b",
    "cat a & rm b",
    "cat $(rm b)",
    "cat `rm b`",
    'cat "$(rm b)"',
    "cat {a,b}",
    "cat a # b",
    "cat 'a",
    'cat "a',
    "cat a\\",
    "cat a\\\nb",
    "cat /etc/passwd",
    "cat -",
    "cat a/",
    "A=b cat a",
    "sudo cat a",
    "! cat a",
    "cat <<EOF\nx\nEOF",
    "cat > a <<EOF\n$HOME\nEOF",
    "cat > a <<EOF\nx",
    "cat > a <<-EOF\nx\nEOF",
    "cat > a <<< x",
    "cat > a <<EOF\nx\nEOF\nrm b",
    "head -n -5 a",
    "head -c 5 a",
    "head -n 0 a",
    "tail -f a",
    "tail -n +3 a",
    "tail",
    "ls a b",
    "ls -t",
    "ls -",
    "ls ..; rm a",
    "ls > a",
    "dir /x",
    "dir a b",
    "type a > b",
    "type %PATH%",
    "type a b",
    "echo hello",
    "echo hello > /etc/passwd",
    "echo hello > a > b",
    "echo hello 2> a",
    "echo hello >& a",
    "echo hello >| a",
    "echo $HOME > a",
    "echo hi! > a",
    "echo -e 'a\\x41' > a",
    "printf '%d' 3 > a",
    "printf '%5s' a > a",
    "printf -v x a > a",
    "printf 'a\\x41' > a",
    "printf a b > a",
    "printf 'a%' > a",
    "printf > a",
    "sed 's/a/b/' f",
    "sed -i s/a/b/",
    "sed -i 's/a.*/b/' f",
    "sed -i 's/a/&b/' f",
    "sed -i 's/^a/b/' f",
    "sed -i 's/a/b/2' f",
    "sed -i 's/a/b/;s/c/d/' f",
    "sed -i 's/(a)/\\1/' f",
    "sed -i 's//b/' f",
    "sed -i 's|a\\|b|c|' f",
    "sed -i 'd' f",
    "sed -i.old s/a/b/ f",
    "sed -e -i s/a/b/ f",
    "sed -i s/a/b/ f g",
    "sed -i s/a/b/ f > g",
)


@every("command", UNDERSTOOD)
def test_it_is_understood(command: str) -> None:
    assert understood(command) == UNDERSTOOD[command]


@every("command", COMMANDS)
def test_it_stays_a_command(command: str) -> None:
    assert understood(command) is None


@given(
    st.text(max_size=60),
    st.sampled_from(["{}", "cat {}", "echo {} > a", "printf {} > a", "sed -i {} f", "cat > a <<{}"]),
)
def test_any_text_is_understood_or_not(text: str, form: str) -> None:
    found = understood(form.replace("{}", text))
    assert found is None or found[1]["path"]


@every("sign", ["'", '"', "\\", "a", " ", "<<E", "\n", "%s", "$", "a\\"])
def test_long_commands_are_read_at_once(sign: str) -> None:
    for form in ("cat {}", "echo {} > a", "printf '{}' > a", "sed -i 's/{}/b/' f", "cat > a <<E\n{}\nE"):
        found = understood(form.replace("{}", sign * 100_000))
        assert found is None or found[1]["path"]


def test_what_would_be_far_longer_than_what_was_said_stays_a_command() -> None:
    assert understood(f"printf '{'x' * 9000}%s' {'a ' * (MOST_PRINTED // 9000 + 1)} > f") is None
