"""A failed exam names the steps that fit what failed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from toolsupport.core.exams.next_steps import STEPS, ExamFindings, sentence, steps

FOUND = ExamFindings({"single"}, {"native"}, "ollama", "0.13.0")
CASES = [
    (FOUND, ["other_format", "pull_again", "test_again"]),
    (replace(FOUND, kind="vllm", lacks_flag=True), ["set_flag", "other_format", "test_again"]),
    (replace(FOUND, formats={"hermes"}, kind="vllm"), ["native_format", "test_again"]),
    (replace(FOUND, version="0.2.9"), ["update_for_tools", "other_format", "pull_again", "test_again"]),
    (replace(FOUND, version="0.6.3-rc1"), ["update_for_capabilities", "other_format", "pull_again", "test_again"]),
    (replace(FOUND, version="0.6.4", failed=()), []),
    (replace(FOUND, version="a fork", failed=(), server_failed=True), ["check_server"]),
    (replace(FOUND, failed={"history"}), ["raise_context", "minimal_context", "test_again"]),
]


# E8, D12
@pytest.mark.parametrize(("found", "expected"), CASES)
def test_the_steps_fit_what_failed(found: ExamFindings, expected: list[str]) -> None:
    assert steps(found) == expected
    assert all(sentence(code, found.version) for code in expected)


def test_each_step_has_a_case() -> None:
    assert {code for _, codes in CASES for code in codes} == set(STEPS)
