"""The alert rules for Prometheus name metrics, labels and outcomes that exist."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import pytest
from django.test import Client

from chat.statuses import TurnStatus
from tests import house
from toolsupport.config import metrics
from toolsupport.registry.metrics.call_metrics import OUTCOMES

RULES = (house.ROOT / "docs" / "alerts.yml").read_text()
EXPRESSIONS = re.findall(r"expr:(?: >-)?((?:.|\n)*?)(?=\n {8}\w)", RULES)
SUFFIXES = {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_count", "_sum")}


def known() -> set[str]:
    """The names under which Prometheus stores our metrics."""
    found = set()
    for metric in metrics.REGISTRY.collect():
        found |= {f"{metric.name}{suffix}" for suffix in SUFFIXES.get(metric.type, ())}
    return found


def unknown(text: str) -> set[str]:
    return set(re.findall(r"\btoolsupport_\w+", text)) - known()


def test_every_metric_of_a_rule_exists() -> None:  # P9
    assert len(EXPRESSIONS) == RULES.count("- alert:") > 5
    assert {text for text in EXPRESSIONS if unknown(text)} == set()


@pytest.mark.parametrize("text", ["toolsupport_calls", "toolsupport_nothing_total", "toolsupport_sockets_total"])
def test_a_metric_that_is_missing_is_found(text: str) -> None:
    assert unknown(f"rate({text}[5m])") == {text}


def test_every_value_of_a_label_exists() -> None:  # P9
    outcomes = {*OUTCOMES, "tried", "succeeded"}
    named = {one for group in re.findall(r'outcome=~?"([^"]+)"', RULES) for one in group.split("|")}
    assert named <= outcomes and set(re.findall(r'reason="(\w+)"', RULES)) <= set(TurnStatus)
    assert named and 'reason="' in RULES


def test_both_sides_of_a_rule_have_the_same_labels() -> None:  # P9
    """Prometheus compares only series whose labels are equal, and two selectors of one metric never have equal ones."""
    compared = [text for text in EXPRESSIONS if len(re.findall(r"\btoolsupport_\w+", text)) > 1]
    sums = [re.findall(r"\bsum( by \([^)]*\))? ?\((?:rate|increase)\(toolsupport_\w+", text) for text in compared]
    assert [len(one) for one in sums] == [2] * len(compared) and len(compared) > 2
    assert [one for one in sums if len(set(one)) != 1] == []


def test_what_a_rule_subtracts_exists_before_the_first_sign_in() -> None:
    code = "from toolsupport.config import metrics; print(metrics.REGISTRY.get_sample_value(*{!r}))"
    for outcome in ("tried", "succeeded"):
        sample = ("toolsupport_sign_ins_total", {"outcome": outcome})
        ran = subprocess.run(
            [sys.executable, "-c", code.format(sample)], cwd=house.ROOT, capture_output=True, text=True
        )
        assert ran.stdout.strip() == "0.0", ran.stderr


def labels() -> dict[str, set[str]]:
    """The labels of each of our metrics, by its name without what Prometheus adds."""
    collectors: set[Any] = set(metrics.REGISTRY._collector_to_names)
    return {one._name: set(one._labelnames) for one in collectors if hasattr(one, "_labelnames")}


def test_every_label_of_a_rule_exists() -> None:  # P9
    named = {
        (re.sub(r"_(total|bucket|count|sum)$", "", metric), label)
        for metric, chosen in re.findall(r"(toolsupport_\w+)\{([^}]*)\}", RULES)
        for label in re.findall(r"(\w+)=", chosen)
    }
    assert named and {(metric, label) for metric, label in named if label not in labels()[metric]} == set()
    grouped = {one for group in re.findall(r"by \(([^)]*)\)", RULES) for one in re.split(r",\s*", group)}
    assert grouped - {"instance", "le"} <= {label for own in labels().values() for label in own}


@pytest.mark.django_db
def test_metrics_that_rules_name_are_in_what_a_site_gives(settings: Any) -> None:  # P9
    settings.ENV = settings.ENV | {"TOOLSUPPORT_METRICS_TOKEN": "a token for tests 1"}
    given = Client().get("/metrics", headers={"authorization": "Bearer a token for tests 1"})
    assert given.status_code == 200
    for name in re.findall(r"\btoolsupport_\w+", " ".join(EXPRESSIONS)):
        stem = re.sub(r"_(total|bucket|count|sum)$", "", name)
        assert re.search(rf"^# TYPE {stem}(_total)? ", given.content.decode(), re.MULTILINE), name
