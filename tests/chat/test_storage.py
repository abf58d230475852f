"""A database that cannot be written to is reported to people, and no acknowledged data is lost."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.serving import new_chat, page, serving, sign_in


# SAFETY 1.6
@pytest.mark.asyncio
async def test_a_full_disk_is_told_and_passes(tmp_path: Path) -> None:
    file = f"sqlite:///{tmp_path / 'toolsupport.sqlite3'}"
    with serving(tmp_path, DATABASE_URL=file) as site, closing(sign_in(site)) as client:
        conversation = new_chat(client)
        async with page(site, client, conversation) as open_page:
            await open_page.until("hello")
            await open_page.send("model.select", model="sim-honest:latest")
            await open_page.send("message.send", text="Kept before")
            await open_page.until("turn.ended")
            with closing(sqlite3.connect(tmp_path / "toolsupport.sqlite3", isolation_level=None)) as database:
                # Every change fails, as it would on a disk without room.
                full = "SELECT RAISE(ABORT, 'database or disk is full')"
                database.execute(f"CREATE TRIGGER full BEFORE INSERT ON chat_message BEGIN {full}; END")
                client_id = await open_page.send("message.send", text="Not kept")
                error = await open_page.until("error")
                assert (error["code"], error["client_id"]) == ("storage", client_id)
                assert "Cannot save right now" in error["text"]
                database.execute("DROP TRIGGER full")
            await open_page.send("message.send", text="Not kept", client_id=client_id)
            assert (await open_page.until("turn.ended"))["reason"] == "done"
        shown = client.get(f"/chat/{conversation}/messages/").text
        assert "Kept before" in shown and "Not kept" in shown
