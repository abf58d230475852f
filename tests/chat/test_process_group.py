"""`serve --processes`: several processes are one site, without Redis, and none outlives the one that started them."""

from __future__ import annotations

import asyncio
import os
import re
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests import databases
from tests.chat.test_approvals import asked, notes
from tests.chat.test_several_processes import long_answer, seqs
from tests.serving import PATIENCE, Page, Site, free_port, new_chat, page, prepare, sign_in

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds the processes in /proc")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with databases.for_site({}) as database:
        site = Site(tmp_path_factory.mktemp("together"), database, forked=True, options=("--processes", "2"))
        prepare(site)
        site.start()
        try:
            yield site
            assert_all_end(site, signal.SIGTERM)
        finally:
            site.kill()


@pytest.fixture(scope="module")
def client(site: Site) -> Iterator[httpx.Client]:
    with closing(sign_in(site)) as browser:
        yield browser


def parts(site: Site) -> list[int]:
    """Return the processes that share the site's port, in the order of their start."""
    assert site.process
    below = Path(f"/proc/{site.process.pid}/task/{site.process.pid}/children").read_text().split()
    return [int(pid) for pid in below if b"--part-of" in Path(f"/proc/{pid}/cmdline").read_bytes()]


@contextmanager
def only(site: Site, index: int) -> Iterator[None]:
    """Let one process accept what connects meanwhile: the others are stopped."""
    others = [pid for at, pid in enumerate(parts(site)) if at != index]
    for pid in others:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in others:
            os.kill(pid, signal.SIGCONT)


@asynccontextmanager
async def pages(site: Site, client: httpx.Client, *indexes: int) -> AsyncIterator[tuple[str, list[Page]]]:
    """A new conversation with a page open at each of these processes."""
    conversation, found = new_chat(client), list[Page]()
    async with AsyncExitStack() as stack:
        while len(found) < len(indexes):
            # A process that was stopped while it writes to SQLite holds the others up: it has to continue first.
            with only(site, indexes[len(found)]), suppress(TimeoutError):
                async with asyncio.timeout(3):
                    found.append(await stack.enter_async_context(page(site, client, conversation)))
        for one in found[1:]:
            await one.until("hello")
        yield conversation, found


def assert_all_end(site: Site, number: int) -> None:
    running = parts(site)
    assert len(running) == 2
    ends = [os.pidfd_open(pid) for pid in running]
    site.kill(number)
    for end in ends:
        assert select.select([end], [], [], PATIENCE)[0], "a process of the site did not end"
        os.close(end)


# O2 C2
@pytest.mark.asyncio
async def test_a_page_of_another_process_follows_word_for_word(site: Site, client: httpx.Client) -> None:
    async with pages(site, client, 0, 1) as (_, (first, second)):
        message = await long_answer(first)
        while len(second.text(message)) < 200:
            await second.until("text.delta", message=message)
        await second.send("turn.stop")
        ends = await asyncio.gather(first.until("turn.ended"), second.until("turn.ended"))
        assert [end["reason"] for end in ends] == ["stopped", "stopped"]
        assert first.text(message) == second.text(message) != ""
        assert seqs(second) == list(range(seqs(second)[0], seqs(second)[-1] + 1))
        assert seqs(second)[-3:] == seqs(first)[-3:]


# D9 O2
@pytest.mark.asyncio
async def test_what_waits_in_one_process_is_allowed_in_another(site: Site, client: httpx.Client) -> None:
    async with pages(site, client, 1, 0) as (conversation, (first, second)):
        question = await asked(first)
        assert (await second.until("question.asked"))["question"] == question
        await second.until("turn.waiting")
        await second.send("question.answer", question=question, answer="once")
        assert (await first.until("turn.ended"))["reason"] == "done"
        assert notes(site, conversation) == "hello there"


# P9 O2
def test_any_process_answers_with_the_metrics_of_all(site: Site, client: httpx.Client) -> None:
    for index in (0, 1):
        with only(site, index):
            assert httpx.get(f"{site.url}/healthz", trust_env=False).status_code == 200
    ends, found = time.monotonic() + PATIENCE, set[str]()
    while found != {"1", "2"}:
        assert time.monotonic() < ends, f"there are counts of {found}"
        text = client.get("/metrics").text
        found = set(re.findall(r'^toolsupport_requests_total\{.*process="(\d+)"', text, re.MULTILINE))
    assert text.count("# TYPE toolsupport_requests_total counter") == 1
    assert len(re.findall(r"^process_resident_memory_bytes\{", text, re.MULTILINE)) == 2


# O2
def test_a_second_start_beside_several_processes_is_refused(site: Site) -> None:
    with pytest.raises(subprocess.CalledProcessError) as ended:
        site.manage("serve", "--port", str(free_port()), "--processes", "2")
    assert (
        ended.value.returncode == 1 and f"at {site.url}" in ended.value.stderr and "--processes" in ended.value.stderr
    )


# O2 O4
@pytest.mark.asyncio
async def test_a_process_that_is_killed_is_started_again_and_its_answer_settled(
    site: Site, client: httpx.Client
) -> None:
    async with pages(site, client, 0, 1) as (_, (first, second)):
        message = await long_answer(first)
        await second.until("text.delta", message=message)
        [killed, kept] = parts(site)
        os.kill(killed, signal.SIGKILL)
        assert (await second.until("turn.ended"))["reason"] == "interrupted"
        ends = time.monotonic() + PATIENCE
        while len(parts(site)) < 2:
            assert time.monotonic() < ends, "no process was started again"
            await asyncio.sleep(0.05)
        assert kept in parts(site) and killed not in parts(site)
        with only(site, parts(site).index(kept) ^ 1):
            assert client.get("/healthz").status_code == 200


# O2 O4
def test_no_process_outlives_a_killed_one_that_started_it(site: Site) -> None:
    assert_all_end(site, signal.SIGKILL)
    site.start()
    with closing(sign_in(site)) as client:
        assert client.get("/models/").status_code == 200


# S3 O4
@pytest.mark.asyncio
@pytest.mark.parametrize(("number", "count"), [(signal.SIGINT, "1"), (signal.SIGHUP, "2")])
async def test_a_terminal_that_ends_all_processes_lets_answers_finish(tmp_path: Path, number: int, count: str) -> None:
    """Ctrl-C and a closed terminal reach every process of its session at once, simulated models too."""
    with databases.for_site({}) as database:
        site = Site(tmp_path, {**database, "TOOLSUPPORT_DRAIN_SECONDS": "2"})
        prepare(site)
        # What nohup starts ignores SIGHUP, and so do its children.
        heard = "signal.signal(signal.SIGHUP, signal.SIG_DFL)"
        begun = f"import os, signal, sys; {heard}; os.execv(sys.argv[1], sys.argv[1:])"
        serve = [sys.executable, "manage.py", "serve", "--port", str(site.port), "--processes", count]
        command = [sys.executable, "-c", begun, *serve]
        given: dict[str, Any] = {"cwd": databases.ROOT, "env": site.environ(), "start_new_session": True}
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **given) as process:
            try:
                assert process.stdout and next(line for line in process.stdout if "is ready at" in line)
                with closing(sign_in(site)) as client:
                    async with page(site, client, new_chat(client)) as one:
                        await long_answer(one)
                        os.killpg(process.pid, number)
                        assert (await one.until("turn.ended"))["reason"] == "interrupted"
                assert process.wait(PATIENCE) == 0
            finally:
                process.kill()
        assert site.rows("SELECT status, reason FROM chat_turn") == [("interrupted", "shutdown")]


def test_a_site_that_nohup_started_stays() -> None:
    program = "import signal; from toolsupport.services.site_processes import stops; print(signal.SIGHUP in stops())"
    for start, listens in ((signal.SIG_DFL, "True"), (signal.SIG_IGN, "False")):
        begun = f"import os, signal, sys; signal.signal(signal.SIGHUP, {start}); os.execv(sys.argv[1], sys.argv[1:])"
        command = [sys.executable, "-c", begun, sys.executable, "-c", program]
        ran = subprocess.run(command, cwd=databases.ROOT, capture_output=True, text=True, check=True)
        assert ran.stdout.strip() == listens


class SixSite(Site):
    """A site at an address of IPv6."""

    @property
    def url(self) -> str:
        return f"http://[::1]:{self.port}"


def has_ipv6() -> bool:
    with suppress(OSError), socket.create_server(("::1", 0), family=socket.AF_INET6):
        return True
    return False


# O2
@pytest.mark.asyncio
@pytest.mark.skipif(not has_ipv6(), reason="this machine has no address of IPv6")
@pytest.mark.parametrize(("host", "count", "reached"), [("::1", "1", False), ("::1", "2", False), ("::", "2", True)])
async def test_an_address_of_ipv6_is_served(tmp_path: Path, host: str, count: str, reached: bool) -> None:
    with databases.for_site({}) as database:
        site = SixSite(
            tmp_path,
            {**database, "TOOLSUPPORT_SIMULATOR": "off"},
            forked=True,
            options=("--host", host, "--processes", count),
        )
        prepare(site)
        site.start()
        try:
            with closing(sign_in(site)) as client:
                async with page(site, client, new_chat(client)) as one:
                    await one.until("hello")
                events = site.rows("SELECT DISTINCT address FROM toolsupport_securityevent WHERE kind = 'new_device'")
                assert events == [("::/64",)]
            with suppress(httpx.ConnectError):
                over_ipv4 = httpx.get(f"http://127.0.0.1:{site.port}/login/", trust_env=False)
                assert reached and over_ipv4.status_code == 200
                reached = False
            assert not reached
        finally:
            site.kill(signal.SIGTERM)


# O2
def test_processes_are_counted_and_an_address_in_use_is_named(site: Site) -> None:
    other = Site(site.directory / "other", {"DATABASE_URL": ""}, forked=True)
    for words, reason in (
        (("--processes", "0"), "use 1 to 64"),
        (("--processes", "many"), "use 1 to 64"),
        (("--port", str(site.port)), "Address already in use"),
        (("--port", str(site.port), "--processes", "2"), "Address already in use"),
        (("--port", str(free_port()), "--host", "2001:db8::1"), "Nothing can listen at http://[2001:db8::1]:"),
        (("--port", str(free_port()), "--host", "x" * 64), "Nothing can listen at"),
    ):
        with pytest.raises(subprocess.CalledProcessError) as ended:
            other.manage("serve", *words)
        assert reason in ended.value.stderr, ended.value.stderr
