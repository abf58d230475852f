"""Inside a box without network: install from a folder of wheels, serve, become administrator, ask until a tool ran.

`python -m tests.nightly.first_card WHEELS FOLDER` prints a JSON object with seconds and MiB.
"""

from __future__ import annotations

import asyncio
import json
import re
import resource
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import httpx

from tests import wheels
from tests.chat.test_end_to_end import choose
from tests.serving import PATIENCE, Site, free_port, new_chat, page

GOOD = {"username": "ana", "password": "a passphrase for tests", "again": "a passphrase for tests"}
MODEL = "sim-honest:latest"
INSTALL = ("install", "--quiet", "--no-compile", "--no-index")  # as the guide has it


def run(found: Path, folder: Path) -> dict[str, object]:
    began = time.monotonic()
    environment = wheels.bare(folder / "home")
    steps = (
        ("python3", "-m", "venv", str(folder / "venv")),
        (f"{folder}/venv/bin/pip", *INSTALL, "--find-links", str(found), "toolsupport"),
    )
    for step in steps:
        subprocess.run(step, cwd=folder / "empty", env=environment, check=True)
    installed, port = time.monotonic() - began, free_port()
    command = [f"{folder}/venv/bin/toolsupport", "serve", "--host", "127.0.0.1", "--port", str(port)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=folder / "empty", env=environment, stdout=pipe, text=True) as process:
        assert process.stdout
        token = re.findall(r"token=(\w+)", next(line for line in process.stdout if "token=" in line))[0]
        card = asyncio.run(first_card(Site(folder, port=port), token))
        seconds, memory = time.monotonic() - began, mebibytes_of_processes(folder)
        process.terminate()
        process.wait()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "card": card,
        "seconds": round(seconds, 1),
        "seconds of pip": round(installed, 1),
        "CPU seconds": round(used.ru_utime + used.ru_stime, 1),
        "MiB of the environment": mebibytes(folder / "venv"),
        "MiB of the data directory": mebibytes(folder / "home"),
        "MiB of memory": memory,
        "networks": [line.split(":")[0].strip() for line in Path("/proc/net/dev").read_text().splitlines()[2:]],
    }


async def first_card(site: Site, token: str) -> str:
    """Become administrator by the one-time address, ask, and return what the tool gave."""
    with closing(httpx.Client(base_url=site.url, follow_redirects=True, timeout=PATIENCE, trust_env=False)) as browser:
        browser.get(f"/setup/?token={token}")
        form = GOOD | {"token": token, "csrfmiddlewaretoken": browser.cookies["csrftoken"]}
        browser.post("/setup/", data=form).raise_for_status()
        async with page(site, browser, new_chat(browser)) as open_page:
            await choose(open_page, MODEL)
            await open_page.send("message.send", text="What is in the file notes.md?")
            frame = await open_page.until("call.finished")
            return str(frame["call"]["name"])


def mebibytes(folder: Path) -> int:
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*")) >> 20


def mebibytes_of_processes(folder: Path) -> int:
    """The memory of all processes of the installation; what they share is counted once."""
    total = 0
    for process in Path("/proc").glob("[0-9]*"):
        if str(folder / "venv") in (process / "cmdline").read_bytes().decode():
            total += int(re.findall(r"^Pss: +(\d+)", (process / "smaps_rollup").read_text(), re.MULTILINE)[0])
    return total >> 10


if __name__ == "__main__":
    print(json.dumps(run(Path(sys.argv[1]), Path(sys.argv[2]))))
