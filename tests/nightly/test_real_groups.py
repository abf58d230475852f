"""Control groups limit commands on a real kernel, independent of this machine."""

from __future__ import annotations

import pytest

from tests.installed import needs
from tests.nightly import real_groups


# S5
@pytest.mark.nightly
@needs(real_groups.KERNEL)
@needs("bwrap")
def test_the_kernel_bounds_memory_and_processes_of_commands() -> None:
    found = {one.pop("of"): one for one in real_groups.outcomes()}
    assert found["guards"]["control group"] is True and "why=''" in found["machine"]["found"]
    commands = [one for name, one in found.items() if name not in ("guards", "machine")]
    assert len(commands) == len(real_groups.COMMANDS) + 2
    assert not [one for one in commands if one["left"]], "a group with processes was left"
    assert found["plain"]["output"] == "here\n" and found["left behind"]["output"] == "gone\n"
    assert "more than 200 MiB" in found["memory of all"]["why"]
    assert int(found["memory of all"]["memory.peak"]) <= int(found["memory of all"]["memory.max"])
    assert int(found["processes"]["pids.peak"]) <= int(found["processes"]["pids.max"]) == 72
    assert found["pids.max"]["pids.events"] != "max 0" and "unavailable" in found["pids.max"]["error"]
    assert found["memory.max"]["by memory"] is True and found["memory.max"]["code"] == -9
