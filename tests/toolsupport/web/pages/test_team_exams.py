"""The pages of the team's exams: Alice and Bob edit them, Charlie, a viewer, reads them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from tests.factories import ModelProfileFactory, UserFactory
from toolsupport.core.exams.builtin import SUITES
from toolsupport.core.exams.cases import ExamSuite
from toolsupport.models import ExamRun, TeamCase, TeamExam
from toolsupport.registry.exams import team_exams

pytestmark = pytest.mark.django_db
FIRST = SUITES["quick"].cases[0]
TOOL = {"type": "function", "function": {"name": "note", "parameters": {"type": "object"}}}
SENT = {
    "name": "shop",
    "cases": [
        {
            "id": "a/b",
            "messages": [{"role": "user", "content": "Note <b>it</b>."}],
            "tools": [TOOL],
            "recorded": [{"name": "note", "arguments": None, "result": "ok"}],
            "expected": [{"name": "note", "arguments": {}}],
            "order": "any",
        }
    ],
}


@pytest.fixture
def people() -> dict[str, Client]:
    found = {"alice": Client(), "bob": Client(), "charlie": Client()}
    for name, client in found.items():
        client.force_login(UserFactory(role="viewer" if name == "charlie" else "user"))
    return found


def page(client: Client, name: str, /, *arguments: Any, **sent: Any) -> str:
    url = reverse(name, args=arguments)
    return (client.post(url, sent, follow=True) if sent else client.get(url)).content.decode()


def imported(client: Client, data: bytes) -> str:
    return page(client, "team-exam-import", file=SimpleUploadedFile("exam.json", data))


def fields(case: int, **changed: str) -> dict[str, Any]:
    body = team_exams.edited(case).case.to_json()
    parts = {name: json.dumps(body[name]) for name in ("messages", "tools", "recorded", "expected")}
    version = team_exams.edited(case).version
    return {"id": body["id"], "order": body["order"], "answer": "", "version": version, **parts, **changed}


def test_an_exam_comes_in_and_goes_out_as_the_same_json(people: dict[str, Client]) -> None:
    shown = imported(people["alice"], json.dumps(SENT).encode())
    assert "Note &lt;b&gt;it&lt;/b&gt;." in shown and "a/b" in shown
    exam = TeamExam.objects.get().pk
    back = json.loads(page(people["charlie"], "team-exam-export", exam))
    sent: Any = SENT["cases"][0]
    assert (back["name"], {name: back["cases"][0][name] for name in ("id", "recorded", "expected", "order")}) == (
        "shop",
        {name: sent[name] for name in ("id", "recorded", "expected", "order")},
    )
    assert page(people["charlie"], "exams").count("shop") == 1


WRONG: list[tuple[bytes, str]] = [
    (b"{", "The file is not JSON"),
    (b'{"name": "x", "name": "y"}', "stands there twice"),
    (
        json.dumps({**SENT, "cases": [*SENT["cases"], {"id": "b", "messages": [3]}]}).encode(),
        "Case “b”, message 1",
    ),
    (b"[" * 70 + b"]" * 70, "nested more than"),
    (b" " * (4 * 1024 * 1024 + 1), "more than 4 MiB"),
]


@pytest.mark.parametrize(("data", "why"), WRONG, ids=[why for _, why in WRONG])
def test_a_bad_file_changes_nothing(people: dict[str, Client], data: bytes, why: str) -> None:
    shown = imported(people["alice"], data)
    assert "Nothing was imported." in shown and why in shown
    assert not TeamExam.objects.exists()


def test_bob_edits_a_case_and_loses_nothing_to_an_error(people: dict[str, Client]) -> None:
    exam = team_exams.add("shop", FIRST, None)
    case = team_exams.cases(exam)[0].id
    shown = page(people["bob"], "team-case", case, **fields(case, expected='[{"name": "gone"}', id="mine"))
    assert "Expected calls is not JSON" in shown and "gone" in shown and 'value="mine"' in shown
    shown = page(people["bob"], "team-case", case, **fields(case, expected='[{"name": "gone"}]'))
    assert "expects a call of “gone”, which is not among its tools" in shown
    assert TeamCase.objects.get().version == 1
    shown = page(people["bob"], "team-case", case, **fields(case, id="mine", order="exact"))
    assert "Saved the case." in shown and "mine" in shown
    assert team_exams.edited(case).case.group == FIRST.group


def test_a_second_editor_sees_both_cases(people: dict[str, Client]) -> None:
    case = team_exams.cases(team_exams.add("shop", FIRST, None))[0].id
    late = fields(case, id="from alice")
    page(people["bob"], "team-case", case, **fields(case, id="from bob"))
    shown = page(people["alice"], "team-case", case, **late)
    assert "changed this case in the meantime" in shown
    assert 'value="from alice"' in shown and "from bob" in shown and 'name="version" value="2"' in shown
    page(people["alice"], "team-case", case, **late | {"version": "2"})
    assert team_exams.edited(case).case.id == "from alice"


def test_charlie_reads_and_changes_nothing(people: dict[str, Client]) -> None:
    exam = team_exams.add("shop", FIRST, None)
    case = team_exams.cases(exam)[0].id
    shown = page(people["charlie"], "team-exam", exam)
    assert FIRST.id in shown and "Remove exam" not in shown and "Rename exam" not in shown
    assert people["charlie"].get(reverse("team-case", args=[case])).status_code == 403
    for name, at in (("rename", exam), ("remove", exam), ("import", None)):
        address = reverse(f"team-exam-{name}", args=[at] if at else [])
        assert people["charlie"].post(address, {"name": "x"}).status_code == 403
    assert people["charlie"].post(reverse("team-case-remove", args=[case])).status_code == 403
    page(people["alice"], "team-exam-rename", exam, name="Store")
    page(people["alice"], "team-case-remove", case, sure="yes")
    assert "Removed the exam “Store”" in page(people["alice"], "team-exam-remove", exam, sure="yes")


def test_a_team_exam_is_run_like_a_built_in_one(people: dict[str, Client]) -> None:
    profile: Any = ModelProfileFactory()
    team_exams.put(ExamSuite("shop", SUITES["quick"].cases[:2]), None)
    shown = people["alice"].get(reverse("exams"), {"model": profile.pk, "suite": "shop"}, follow=True).content.decode()
    assert "shop, 2 cases" in shown and 'value="shop"' in shown.split("checked")[0].rpartition("<input")[2]
    people["alice"].post(reverse("model-validate", args=[profile.pk]), {"suite": "shop"})
    assert (ExamRun.objects.get().planned, ExamRun.objects.get().paper.suite) == (2, "shop")
