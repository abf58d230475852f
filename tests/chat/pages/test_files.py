"""The files panel: whose it is, what goes in, what comes out (T12)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import AsyncClient, Client
from django.urls import reverse

from chat.models import Conversation
from chat.tools.files.workspace import MIB, Workspace
from chat.transcript.conversations.conversations import workspace_of
from chat.transcript.settings import turn_settings
from tests.factories import ConversationFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def conversation(alice: User) -> Conversation:
    return ConversationFactory(owner=alice)


@pytest.fixture
def workspace(alice: User, conversation: Conversation) -> Workspace:
    return workspace_of(alice, str(conversation.pk))


@pytest.fixture
def browser(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


@pytest.fixture
def quota(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setitem(settings.ENV, "TOOLSUPPORT_WORKSPACE_MIB", 1)
    yield MIB


def address(conversation: Conversation, what: str = "") -> str:
    return reverse(f"conversation-files{what}", args=[conversation.pk])


def upload(browser: Client, conversation: Conversation, *files: tuple[str, bytes], **fields: str) -> Any:
    given = [SimpleUploadedFile(name, data) for name, data in files]
    return browser.post(address(conversation), {"files": given, **fields})


def downloaded(user: User, conversation: Conversation, path: str) -> tuple[Any, bytes]:
    """The answer as the real server gives it: asynchronously."""

    async def get() -> tuple[Any, bytes]:
        browser = AsyncClient()
        await browser.aforce_login(user)
        response: Any = await browser.get(address(conversation, "-download"), {"path": path})
        if not response.streaming:
            return response, response.content
        return response, b"".join([chunk async for chunk in response])

    return async_to_sync(get)()


@pytest.mark.parametrize("fields", [{}, {"pending": "1"}])
def test_an_upload_during_the_deletion_of_its_chat_leaves_no_file(
    browser: Client,
    conversation: Conversation,
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    fields: dict[str, str],
) -> None:  # P8
    write, here = Workspace.write, address(conversation)

    def late(self: Workspace, *given: Any, **named: Any) -> str:
        turn_settings.discard_workspace(str(conversation.pk))
        Conversation.objects.filter(pk=conversation.pk).delete()
        turn_settings.remove_workspace(str(conversation.pk))
        return write(self, *given, **named)

    monkeypatch.setattr(Workspace, "write", late)
    answer = browser.post(here, {"files": [SimpleUploadedFile("a.txt", b"secret")], **fields})
    assert answer.status_code == 404
    assert not workspace.root.exists()


# Whose files they are

# The token against forged forms differs from page to page.
TOKENS = re.compile(r"\b\w{64}\b")
REQUESTS = [("get", ""), ("post", ""), ("get", "-download"), ("post", "-delete")]


@pytest.mark.parametrize(("verb", "what"), REQUESTS)
def test_bob_may_chat_but_sees_no_difference_between_foreign_and_absent(
    client: Client, bob: User, conversation: Conversation, workspace: Workspace, verb: str, what: str
) -> None:
    workspace.write("secret.txt", [b"alice's"])
    client.force_login(bob)
    absent = Conversation(pk=uuid4())
    answers = [getattr(client, verb)(address(one, what), {"path": "secret.txt"}) for one in (conversation, absent)]
    assert [answer.status_code for answer in answers] == [404, 404]
    foreign, missing = (TOKENS.sub("", answer.content.decode()) for answer in answers)
    assert foreign.replace(str(conversation.pk), str(absent.pk)) == missing
    assert workspace.read("secret.txt", 10).data == b"alice's"


@pytest.mark.parametrize(("verb", "what"), REQUESTS)
def test_charlie_may_not(client: Client, charlie: User, verb: str, what: str) -> None:
    client.force_login(charlie)
    assert getattr(client, verb)(address(ConversationFactory(owner=charlie), what)).status_code == 403


@pytest.mark.parametrize(("verb", "what"), REQUESTS)
def test_strangers_are_sent_to_sign_in(client: Client, conversation: Conversation, verb: str, what: str) -> None:
    answer = getattr(client, verb)(address(conversation, what))
    assert answer.status_code == 302 and answer["Location"].startswith("/login/")


def test_every_address_has_its_verbs(browser: Client, conversation: Conversation) -> None:
    whats = ("", "-download", "-delete")
    assert [browser.put(address(conversation, what)).status_code for what in whats] == [405, 405, 405]


@pytest.mark.parametrize("what", ["", "-delete"])
def test_a_form_of_another_site_changes_nothing(alice: User, conversation: Conversation, what: str) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(alice)
    answer = browser.post(address(conversation, what), {"files": [SimpleUploadedFile("a", b"")], "path": "a"})
    assert answer.status_code == 403
    assert workspace_of(alice, str(conversation.pk)).usage().entries == 0


def test_the_forms_of_the_panel_pass_the_check(alice: User, conversation: Conversation, workspace: Workspace) -> None:
    workspace.write("there.txt", [b""])
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(alice)
    page = browser.get(address(conversation)).content.decode()
    token = re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', page)[0]
    sent = {"files": [SimpleUploadedFile("a", b"1")], "csrfmiddlewaretoken": token}
    assert browser.post(address(conversation), sent).status_code == 200


# The list


def test_the_list_shows_paths_sizes_and_how_much_room_is_left(
    browser: Client, conversation: Conversation, workspace: Workspace, quota: int
) -> None:
    workspace.write("src/app.py", [b"x" * 2048])
    workspace.write("<b>&?#.txt", [b""])
    page = browser.get(address(conversation)).content.decode()
    assert "src/app.py" in page and "2 KiB" in page
    assert "2 KiB of 1 MiB used" in page
    assert "<b>" not in page and "&lt;b&gt;&amp;?#.txt" in page
    assert "?path=%3Cb%3E%26%3F%23.txt" in page


def test_a_long_list_is_bounded(
    browser: Client, conversation: Conversation, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chat.pages.files.LISTED", 2)
    for name in "abc":
        workspace.write(name, [b""])
    page = browser.get(address(conversation)).content.decode()
    assert page.count("<li") == 2 and "Only the first 2 are shown" in page


def test_what_a_program_left_there_does_not_break_the_page(
    browser: Client, conversation: Conversation, workspace: Workspace
) -> None:
    workspace.write("a", [b""])
    (workspace.root / "way out").symlink_to("/")
    (workspace.root / "\udcff\n").touch()
    (workspace.root / "/".join("d" * 18)).mkdir(parents=True)
    page = browser.get(address(conversation)).content.decode()
    assert page.count("cannot be opened") == 2
    assert "delete some first" in page


# Uploads


def test_files_are_kept_as_they_were_sent(browser: Client, conversation: Conversation, workspace: Workspace) -> None:
    large = bytes(range(256)) * 4 * 4096
    answer = upload(browser, conversation, ("notes.md", b"words"), ("large.bin", large))
    assert answer.status_code == 200
    page = answer.content.decode()
    assert "Uploaded notes.md." in page and "Uploaded large.bin." in page and "4 MiB" in page
    assert workspace.read("large.bin", 2 * len(large)).data == large


def test_the_same_name_is_kept_beside_or_replaced_on_request(
    browser: Client, conversation: Conversation, workspace: Workspace
) -> None:
    upload(browser, conversation, ("a.txt", b"old"))
    page = upload(browser, conversation, ("a.txt", b"new")).content.decode()
    assert "a.txt already exists, so the new file is called a (2).txt." in page
    assert workspace.read("a.txt", 9).data + workspace.read("a (2).txt", 9).data == b"oldnew"
    page = upload(browser, conversation, ("a.txt", b"newer"), replace="1").content.decode()
    assert "Uploaded a.txt." in page
    assert workspace.read("a.txt", 9).data == b"newer"


def test_chips_get_the_same_lines_as_data(browser: Client, conversation: Conversation) -> None:
    def sent(name: str) -> Any:
        data = {"files": [SimpleUploadedFile(name, b"x")]}
        return browser.post(address(conversation), data, headers={"Accept": "application/json"})

    assert sent("a.txt").json() == {"lines": [{"tone": "ok", "text": "Uploaded a.txt.", "path": "a.txt"}]}
    assert [line["path"] for line in sent("a.txt").json()["lines"]] == ["a (2).txt"]
    refused = sent(".toolsupport-part-1")
    assert (refused.status_code, refused.json()["lines"][0]["path"]) == (422, "")


def test_one_bad_file_does_not_keep_out_the_good_ones(
    browser: Client, conversation: Conversation, workspace: Workspace
) -> None:
    answer = upload(browser, conversation, ("good.txt", b"1"), ("\u202egpj.exe", b"2"), ("also good.txt", b"3"))
    assert answer.status_code in (200, 422)
    assert {entry.path for entry in workspace.entries().entries} >= {"good.txt", "also good.txt"}
    answer = upload(browser, conversation, (".toolsupport-part-1", b"2"), ("third.txt", b"3"))
    assert answer.status_code == 422
    assert "was not uploaded. Names that begin with" in answer.content.decode()
    assert workspace.entry("third.txt").size == 1


@pytest.mark.parametrize("name", ["../../out.txt", "/etc/out.txt", "..\\..\\out.txt", "a/b/out.txt"])
def test_an_upload_cannot_choose_its_directory(
    browser: Client, conversation: Conversation, workspace: Workspace, name: str
) -> None:
    body = (
        f'--b\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n'
        "Content-Type: text/plain\r\n\r\nwords\r\n--b--\r\n"
    )
    browser.post(address(conversation), body, content_type="multipart/form-data; boundary=b")
    assert [entry.path for entry in workspace.entries(recursive=True).entries] == ["out.txt"]


def test_what_does_not_fit_is_said_with_what_is_free(
    browser: Client, conversation: Conversation, workspace: Workspace, quota: int
) -> None:
    workspace.write("a", [b"x" * (quota - 1024)])
    answer = upload(browser, conversation, ("b.txt", b"x" * 2048))
    assert answer.status_code == 422
    assert "b.txt was not uploaded. There is not enough room: only 1 KiB are free" in answer.content.decode()
    assert workspace.usage().size == quota - 1024


def test_a_body_that_is_too_large_is_not_even_read(
    browser: Client, conversation: Conversation, quota: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("django.http.multipartparser.MultiPartParser.parse", lambda _: pytest.fail("it was read"))
    answer = upload(browser, conversation, ("a", b"x" * (2 * quota + 1)))
    assert answer.status_code == 413
    assert "All files together can have 1 MiB" in answer.content.decode()


def test_a_body_without_a_length_is_not_read(browser: Client, conversation: Conversation) -> None:
    answer = browser.post(address(conversation), b"", content_type="multipart/form-data; boundary=b", CONTENT_LENGTH="")
    assert answer.status_code == 413 and "has no size" in answer.content.decode()


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("nothing", "multipart/form-data"),
        ("", "multipart/form-data; boundary=b"),
        ("{}", "application/json"),
        ("files=a", "application/x-www-form-urlencoded"),
        ("--b\r\n" * 300, "multipart/form-data; boundary=b"),
    ],
)
def test_what_is_no_upload_is_answered_in_words(
    browser: Client, conversation: Conversation, body: str, content_type: str
) -> None:
    answer = browser.post(address(conversation), body, content_type=content_type)
    assert answer.status_code in (413, 422)
    assert "data-status-line" in answer.content.decode()


def test_too_many_files_at_once_are_refused_in_words(browser: Client, conversation: Conversation) -> None:
    answer = upload(browser, conversation, *((f"{number}", b"1") for number in range(101)))
    assert answer.status_code == 422
    assert "up to 100 files" in answer.content.decode()


# Downloads


def test_a_download_is_always_something_to_save(alice: User, conversation: Conversation, workspace: Workspace) -> None:
    data = b"<script>alert(1)</script>" * 40_000
    workspace.write("d/naïve page.html", [data])
    response, content = downloaded(alice, conversation, "d/naïve page.html")
    assert content == data
    assert response["Content-Length"] == str(len(data))
    assert response["Content-Type"] == "application/octet-stream"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert response["Content-Disposition"] == "attachment; filename*=utf-8''na%C3%AFve%20page.html"


def test_a_name_cannot_break_out_of_its_header(alice: User, conversation: Conversation, workspace: Workspace) -> None:
    workspace.write('a"; filename=b.exe', [b"1"])
    response, _ = downloaded(alice, conversation, 'a"; filename=b.exe')
    assert response["Content-Disposition"] == 'attachment; filename="a\\"; filename=b.exe"'


@pytest.mark.parametrize(
    ("path", "status"), [*((path, 404) for path in ("", "missing", "d", "link", "../x", "/etc/passwd")), ("a\0b", 400)]
)
def test_what_is_no_file_of_this_workspace_is_not_found(
    alice: User, conversation: Conversation, workspace: Workspace, path: str, status: int
) -> None:
    workspace.write("d/x", [b""])
    (workspace.root / "link").symlink_to("/etc/passwd")
    response, content = downloaded(alice, conversation, path)
    assert response.status_code == status
    assert b"root:" not in content and str(workspace.root).encode() not in content


# Deleting


def test_deleting_a_file_and_a_directory(browser: Client, conversation: Conversation, workspace: Workspace) -> None:
    for path in ("a.txt", "d/x", "kept"):
        workspace.write(path, [b""])
    for path in ("a.txt", "d"):
        page = browser.post(address(conversation, "-delete"), {"path": path}).content.decode()
        assert f"Deleted {path}." in page
    assert [entry.path for entry in workspace.entries().entries] == ["kept"]


@pytest.mark.parametrize(
    ("path", "status", "words"), [("b", 200, "already deleted"), ("..", 422, "top"), ("", 422, "itself")]
)
def test_what_cannot_be_deleted_is_said(
    browser: Client, conversation: Conversation, workspace: Workspace, path: str, status: int, words: str
) -> None:
    workspace.write("a", [b""])
    answer = browser.post(address(conversation, "-delete"), {"path": path})
    assert answer.status_code == status and words in answer.content.decode()
    assert workspace.usage().entries == 1


def test_the_quota_of_the_settings_is_the_quota_of_the_page(
    browser: Client, conversation: Conversation, quota: int
) -> None:
    assert browser.get(address(conversation)).content.decode().count(f'max="{quota}"') == 1
