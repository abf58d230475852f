"""The page of a model shows how its grade changed from build to build."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests.factories import ModelProfileFactory, UserFactory
from tests.toolsupport.web.pages.test_exam_next_steps import ended
from toolsupport.models import ModelProfile
from toolsupport.registry.exams import exam_plot

pytestmark = pytest.mark.django_db


def another_build(profile: Any, digest: str) -> None:
    ModelProfile.objects.filter(pk=profile.pk).update(digest=digest)
    profile.refresh_from_db()


# E5
def test_the_page_plots_the_newest_run_of_each_build() -> None:
    profile: Any = ModelProfileFactory(name="m:1")
    ended(profile, {"single"})
    first = ended(profile, set())
    assert exam_plot.of_runs(exam_plot.ended(profile)) is None
    another_build(profile, "b")
    second = ended(profile, {"single", "history"})
    ended(ModelProfileFactory(), set())
    plot = exam_plot.of_runs(exam_plot.ended(profile))
    assert plot is not None
    assert [(one.run, one.percent) for one in plot.grades] == [(first, 100), (second, 81)]
    assert (plot.suite, plot.line, plot.least, plot.most) == ("quick", "M0 0L100 19", "M0 8L100 33", "M0 0L100 10")
    client = Client()
    client.force_login(UserFactory(role="viewer"))
    text = client.get(reverse("model", args=[profile.pk])).content.decode()
    assert "Exam results by build" in text and 'd="M0 0L100 19"' in text and "67 to 90 %" in text


def test_a_run_without_graded_cases_is_left_out() -> None:
    profile: Any = ModelProfileFactory()
    ended(profile, set())
    another_build(profile, "b")
    run = ended(profile, set())
    row = profile.exam_runs.get(pk=run)
    row.detail["formats"]["native"]["trials"] = 0
    row.save()
    assert exam_plot.of_runs(exam_plot.ended(profile)) is None
