"""Exams of the team as rows: added to, edited with a version, imported whole or not at all."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.factories import ModelProfileFactory, UserFactory
from toolsupport.core.errors import ConfigError, Conflict, NotFound
from toolsupport.core.exams.builtin import SUITES
from toolsupport.core.exams.cases import ExamSuite
from toolsupport.core.types import ChatMessage, Role
from toolsupport.models import TeamCase, TeamExam
from toolsupport.registry.exams import exam_reports, exam_runs, team_exams
from toolsupport.registry.exams.exam_runs import ExamRequest

pytestmark = pytest.mark.django_db

FIRST, SECOND, THIRD = SUITES["quick"].cases[:3]


def the_case(exam: int) -> team_exams.EditedCase:
    return team_exams.edited(team_exams.cases(exam)[0].id)


def test_cases_of_one_name_go_to_one_exam_whatever_the_case_of_its_letters() -> None:
    exam = team_exams.add("Shop", FIRST, None)
    assert team_exams.add(" SHOP ", SECOND, None) == exam
    assert [case.name for case in team_exams.cases(exam)] == [FIRST.id, SECOND.id]
    assert [(one.name, one.cases) for one in team_exams.listed()] == [("Shop", 2)]
    assert team_exams.suite("shop") == ExamSuite("Shop", (replace(FIRST, quick=False), replace(SECOND, quick=False)))
    with pytest.raises(ConfigError, match="has a case"):
        team_exams.add("shop", FIRST, None)
    assert team_exams.free_name("shop", FIRST.id) == f"{FIRST.id}_2"


@pytest.mark.parametrize("name", ["", "  ", "quick", "Full", "a/b", "x" * 121])
def test_a_name_that_cannot_be_used_is_refused(name: str) -> None:
    with pytest.raises(ConfigError):
        team_exams.add(name, FIRST, None)
    assert not TeamExam.objects.exists()


def test_an_edited_case_leaves_earlier_runs_as_they_were() -> None:
    exam = team_exams.add("shop", FIRST, None)
    run = exam_runs.open_run(ExamRequest(ModelProfileFactory().pk, team_exams.suite("shop")))
    old = the_case(exam)
    asked = ChatMessage(Role.USER, "Something else.")
    team_exams.change(replace(old, case=replace(old.case, messages=(asked,))), UserFactory().pk)
    assert team_exams.suite("shop").cases[0].messages == (asked,)
    assert (the_case(exam).version, exam_reports.body(run, FIRST.id).messages) == (2, FIRST.messages)
    team_exams.remove(exam)
    assert exam_reports.body(run, FIRST.id).messages == FIRST.messages


def test_the_second_of_two_people_does_not_overwrite_the_first() -> None:
    seen = the_case(team_exams.add("shop", FIRST, None))
    first = UserFactory(first_name="Ana", last_name="")
    team_exams.change(replace(seen, case=replace(seen.case, order="exact")), first.pk)
    with pytest.raises(Conflict):
        team_exams.change(replace(seen, case=replace(seen.case, expected=())), UserFactory().pk)
    assert the_case(seen.exam).case.order == "exact"


def test_secrets_are_not_stored() -> None:
    secret = "sk-abcdefghijklmnop1234"
    told = replace(FIRST, messages=(ChatMessage(Role.USER, f"My key is {secret}."),))
    exam = team_exams.add("shop", told, None)
    assert "[secret]" in team_exams.suite_of(exam).cases[0].messages[0].content
    assert secret not in str(TeamCase.objects.get().body)
    team_exams.put(ExamSuite("other", (told,)), None)
    assert not [case for case in TeamCase.objects.all() if secret in str(case.body)]


def test_an_import_takes_a_new_name_only() -> None:
    team_exams.put(ExamSuite("shop", (FIRST, SECOND)), None)
    with pytest.raises(ConfigError, match="already"):
        team_exams.put(ExamSuite("SHOP", (THIRD,)), None)
    assert TeamCase.objects.count() == 2


def test_an_exam_is_renamed_and_its_cases_are_removed() -> None:
    exam, other = team_exams.add("shop", FIRST, None), team_exams.add("other", FIRST, None)
    with pytest.raises(ConfigError, match="already"):
        team_exams.rename(other, "Shop")
    team_exams.rename(exam, "Store")
    team_exams.remove_case(team_exams.cases(exam)[0].id)
    with pytest.raises(ConfigError, match="has no cases"):
        team_exams.suite("store")
    with pytest.raises(NotFound):
        team_exams.suite("shop")
