"""The pages of exams: people with the permission run them, viewers read them."""

from __future__ import annotations

import csv
import json
from io import StringIO
from typing import Any
from xml.etree import ElementTree

import pytest
from django.test import Client
from django.urls import reverse

from tests.factories import ModelProfileFactory, ServerFactory, UserFactory
from tests.tables import every
from toolsupport.core.exams import exam_report
from toolsupport.core.exams.builtin import SUITES
from toolsupport.core.exams.estimates import TrialGrade
from toolsupport.core.formats import FORMATS
from toolsupport.models import ExamRun, ExamTrial
from toolsupport.registry.exams import exam_gate, exam_runs
from toolsupport.registry.exams.exam_runs import ExamRequest, ExamTrialRecord

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice() -> Client:
    return signed_in("user")


def signed_in(role: str) -> Client:
    client = Client()
    client.force_login(UserFactory(role=role))
    return client


def text(client: Client, name: str, *arguments: Any, **given: Any) -> str:
    return client.get(reverse(name, args=arguments), given, follow=True).content.decode()


def test_a_run_can_begin_with_another_model(alice: Client) -> None:
    first, second = ModelProfileFactory(name="first-model"), ModelProfileFactory(name="second-model")
    page = text(alice, "model-validate", second.pk)
    assert f'<option value="{first.pk}"' in page and f'<option value="{second.pk}"' not in page
    fields = {"suite": "quick", "swap_from": str(first.pk)}
    shown = alice.post(reverse("model-validate", args=[second.pk]), fields, follow=True).content.decode()
    run = ExamRun.objects.get()
    assert (run.swap_from_id, run.planned) == (first.pk, sum(bool(case.expected) for case in SUITES["quick"].cases))
    assert "makes the first" in shown and f"{first.server.name}/first-model" in shown
    assert f"after {first.server.name}/first-model" in text(alice, "exams")
    fields["swap_from"] = str(second.pk)
    assert alice.post(reverse("model-validate", args=[second.pk]), fields).status_code == 200
    assert ExamRun.objects.count() == 1


@pytest.mark.parametrize(("kind", "noted"), [("simulator", True), ("ollama", False)])
def test_the_grade_of_a_simulated_model_is_shown_as_that(alice: Client, kind: str, noted: bool) -> None:
    model = ModelProfileFactory(server=ServerFactory(kind=kind))
    run = exam_runs.open_run(ExamRequest(model.pk, SUITES["quick"]))
    assert ("Simulated models follow simple rules" in text(alice, "exam", run)) is noted


def test_a_change_of_models_opens_no_gate() -> None:
    first, second = ModelProfileFactory(), ModelProfileFactory()
    second.options = {"required_exam": "quick"}
    second.save()
    run = exam_runs.open_run(ExamRequest(second.pk, SUITES["quick"], swap_from=first.pk))
    assert exam_gate.gate(second).run is None
    detail = {"formats": {"": {"used": exam_gate.format_in_force(second)}}}
    ExamRun.objects.filter(pk=run).update(status="done", verdict="passed", detail=detail)
    assert (exam_gate.gate(second).state, exam_gate.standing(second).run) == ("waits", None)
    ExamRun.objects.filter(pk=run).update(swap_from=None)
    assert exam_gate.gate(second).state == "passed"


def a_finished_run(profile: Any, wrong: str = "single_2") -> int:
    """A run of the quick exam in which one case was wrong three times."""
    run = exam_runs.open_run(ExamRequest(profile.pk, SUITES["quick"], ("native",)))
    exam_runs.claim("worker")
    grades = []
    for case in SUITES["quick"].cases:
        right = case.id != wrong
        for n in range(1, 2 if right else 4):
            facts = {} if right else {"tool": "<b>get_stock_price</b>"}
            code = "right" if right else "no_call"
            exam_runs.add_trial(
                run,
                "worker",
                ExamTrialRecord("native", "native", case.id, case.group, n, right, code, facts, [{"text": "Hm."}]),
            )
            grades.append(TrialGrade(case.id, case.group, right))
    verdict, detail = exam_report.concluded({"native": grades}, {"native": "native"}, "")
    exam_runs.renew(run, "worker", len(SUITES["quick"].cases))
    exam_runs.conclude(run, "worker", verdict, detail)
    return run


def test_alice_starts_a_run_of_two_formats_and_cancels_it(alice: Client) -> None:
    profile: Any = ModelProfileFactory(name="m:1")
    page = text(alice, "exams", model=profile.pk)
    assert "Quick, 42 cases" in page and "Full, 120 cases" in page and "a rough guess" in page
    chosen = {"suite": "quick", "formats": ["native", "hermes"]}
    page = alice.post(reverse("model-validate", args=[profile.pk]), chosen, follow=True).content.decode()
    run = ExamRun.objects.get()
    assert (run.formats, run.planned, run.trigger) == (["native", "hermes"], 84, "page")
    assert "Waiting for other exams" in page and 'hx-trigger="every 1s"' in page
    page = alice.post(reverse("exam-cancel", args=[run.pk]), follow=True).content.decode()
    assert "Cancelled" in page and "hx-trigger" not in page.split('id="exam"')[1].split(">")[0]


WRONG_FORMS: list[dict[str, Any]] = [
    {},
    {"suite": "nope"},
    {"suite": "quick", "formats": ["nope"]},
    {"suite": "full", "formats": ["native", *list(FORMATS)[:8]]},
]


@pytest.mark.parametrize("fields", WRONG_FORMS)
def test_a_wrong_form_starts_nothing(alice: Client, fields: dict[str, Any]) -> None:
    profile: Any = ModelProfileFactory()
    page = alice.post(reverse("model-validate", args=[profile.pk]), fields)
    assert page.status_code == 200 and "errorlist" in page.content.decode()
    assert not ExamRun.objects.exists()


def test_a_viewer_reads_and_does_not_run(alice: Client) -> None:
    profile: Any = ModelProfileFactory(name="m:1")
    run, viewer = a_finished_run(profile), signed_in("viewer")
    page = text(viewer, "exams")
    assert "Passed" in page and "41 of 42" in page and "Run an exam" not in page
    page = text(viewer, "exam", run)
    assert "41 of 42 passed" in page and "Native" in page and "<code>native" not in page
    assert "Run another exam" not in page
    # What went wrong comes first, and texts of models are no markup.
    assert page.index("single_2<") < page.index("single_1<")
    assert "&lt;b&gt;" in page and "<b>" not in page.split("<tbody>")[-1]
    for name in ("model-validate", "exam-cancel"):
        assert viewer.post(reverse(name, args=[profile.pk if name == "model-validate" else run])).status_code == 403
    assert "Run another exam" in text(alice, "exam", run)


def test_a_case_shows_request_expectation_and_every_trial(alice: Client) -> None:
    run = a_finished_run(ModelProfileFactory())
    page = text(alice, "exam-case", run, "single_2")
    assert "Get the stock price of the symbol NVDA." in page and "get_stock_price" in page
    assert page.count("Trial ") >= 3 and "Hm." in page
    assert alice.get(reverse("exam-case", args=[run, "nope"])).status_code == 404


WARM = {"settings": ["temperature"], "message": "Only <1> is supported."}
THOUGHT = {"settings": ["temperature", "think_off"], "message": "No thanks."}
# The replies of a trial → what the page of the run names besides the result.
LEFT_OUT = {
    "nothing": ([{"text": "Hm."}], []),
    "one setting": (
        [{"text": "Hm.", "left_out": WARM}, {"left_out": WARM}],
        ["Not used for m:1: temperature. Its server refuses this (“Only &lt;1&gt; is supported.”)."],
    ),
    "a further one later": (
        [{"left_out": WARM}, {"left_out": THOUGHT}, {"left_out": WARM}],
        ["m:1: temperature. ", "m:1: temperature, thinking off. "],
    ),
    "of both models of a change": (
        [{"model": "first", "left_out": WARM}, {"model": "m:1", "left_out": WARM}],
        ["first: temperature. ", "m:1: temperature. "],
    ),
}


@every("replies, named", LEFT_OUT.values())
def test_settings_that_a_server_refused_are_named_beside_the_result(
    alice: Client, replies: list[Any], named: list[str]
) -> None:
    run = a_finished_run(ModelProfileFactory(name="m:1"))
    ExamTrial.objects.filter(run=run, case__in=("single_1", "single_2")).update(replies=replies)
    for status in ("done", "cancelled"):
        ExamRun.objects.filter(pk=run).update(status=status)
        page = text(alice, "exam", run)
        assert [page.count(words) for words in named] == [1] * len(named)
        assert page.count("Not used for") == len(named)


def test_each_case_names_the_settings_that_did_not_apply(alice: Client) -> None:
    run = a_finished_run(ModelProfileFactory(name="m:1"))
    ExamTrial.objects.filter(run=run, case="single_2", n=1).update(replies=[{"left_out": WARM}, {"left_out": THOUGHT}])
    wanted = {"single_2": ["temperature", "think_off"]}
    found = json.loads(text(alice, "exam-result", run, "json"))
    assert {case["id"]: case["settings_left_out"] for case in found["cases"] if case["settings_left_out"]} == wanted
    rows = csv.DictReader(StringIO(text(alice, "exam-result", run, "csv")))
    assert {row["id"]: row["settings_left_out"].split() for row in rows if row["settings_left_out"]} == wanted
    report = ElementTree.fromstring(text(alice, "exam-result", run, "xml"))
    named = {one.get("name"): one.find(".//property") for one in report.iter("testcase")}
    assert {name: one.attrib for name, one in named.items() if one is not None} == {
        "single_2": {"name": "settings_left_out", "value": "temperature think_off"}
    }
    page = text(alice, "exam", run)
    assert page.count("Without temperature, thinking off.") == 1
    assert "Without temperature" in page[page.index("single_2<") : page.index("single_1<")]
    page = text(alice, "exam-case", run, "single_2")
    assert "Not used for m:1: temperature. Its server refuses this (“Only &lt;1&gt; is supported.”)." in page
    assert "m:1: temperature, thinking off. " in page and page.count("Not used for") == 2


def test_the_result_as_files(alice: Client) -> None:
    run = a_finished_run(ModelProfileFactory(name="m:1"))
    found = json.loads(text(alice, "exam-result", run, "json"))
    assert (found["verdict"], found["groups"]["single"]) == ("passed", {"right": 3, "trials": 4})
    rows = list(csv.DictReader(StringIO(text(alice, "exam-result", run, "csv"))))
    assert len(rows) == 42 and {row["id"]: row["right"] for row in rows}["single_2"] == "0"
    assert 'failures="1"' in text(alice, "exam-result", run, "xml")
    assert alice.get(reverse("exam-result", args=[run, "exe"])).status_code == 404


def test_a_run_whose_server_failed_says_why_and_leads_to_the_test(alice: Client) -> None:
    profile: Any = ModelProfileFactory()
    run = exam_runs.open_run(ExamRequest(profile.pk, SUITES["quick"]))
    exam_runs.claim("worker")
    verdict, detail = exam_report.concluded({"": []}, {}, "The server refused tools.")
    exam_runs.conclude(run, "worker", verdict, detail)
    page = text(alice, "exam", run)
    assert "Inconclusive" in page and "The server refused tools." in page and "Test the model" in page
