"""Writes the result of an exam as JUnit XML, for build servers."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

from toolsupport.core.sanitize import text as clean
from toolsupport.core.types import JSON


def written(found: JSON) -> str:
    """Return the XML of a result as exam_reports.to_json gives it: one test case for each case and format."""
    cases: list[dict[str, Any]] = found["cases"]
    failed = sum(_state(case) == "failure" for case in cases)
    skipped = sum(_state(case) == "skipped" for case in cases)
    suite = ElementTree.Element(
        "testsuite",
        name=clean(f"{found['suite']}: {found['model']}"),
        tests=str(len(cases)),
        failures=str(failed),
        skipped=str(skipped),
    )
    for case in cases:
        classname = f"{found['suite']}.{case['group']}.{case['format'] or 'in_force'}"
        element = ElementTree.SubElement(suite, "testcase", name=clean(case["id"]), classname=clean(classname))
        if case["settings_left_out"]:
            properties = ElementTree.SubElement(element, "properties")
            names = " ".join(case["settings_left_out"])
            ElementTree.SubElement(properties, "property", name="settings_left_out", value=clean(names))
        if state := _state(case):
            ElementTree.SubElement(element, state, message=clean(case["why"] or "Not graded."))
    return ElementTree.tostring(suite, encoding="unicode")


def _state(case: dict[str, Any]) -> str:
    """Return the element of a case: failure, skipped, "" if it was right."""
    if not case["trials"] or case["why"].startswith("Not graded"):
        return "skipped"
    return "" if case["right"] * 2 > case["trials"] else "failure"
