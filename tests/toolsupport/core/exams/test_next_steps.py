"""A failed exam names the steps that fit what failed."""

from __future__ import annotations

from dataclasses import replace

from tests.tables import every
from toolsupport.core.exams.next_steps import OTHER_FORMATS, STEPS, ExamFindings, other_formats, sentence, steps
from toolsupport.registry.exams.exam_runs import FORMATS_OF_EXAMS

FOUND = ExamFindings({"single"}, {"native"}, "ollama", "0.13.0")
LONG = replace(FOUND, failed={"history"}, context=16_384)
TRIED = {"native", "hermes", "pure_json"}
CASES = [
    (FOUND, ["other_format", "pull_again", "test_again"]),
    (replace(FOUND, kind="vllm", lacks_flag=True), ["set_flag", "other_format", "test_again"]),
    (replace(FOUND, formats={"hermes"}, kind="vllm"), ["native_format", "test_again"]),
    (replace(FOUND, formats=TRIED, kind="vllm"), ["test_again"]),
    (replace(FOUND, failed={"own"}, kind="vllm"), ["other_format", "test_again"]),
    (replace(FOUND, failed={"missing"}), ["test_again"]),
    (replace(FOUND, version="0.2.9"), ["update_for_tools", "other_format", "pull_again", "test_again"]),
    (replace(FOUND, version="0.6.3-rc1"), ["update_for_capabilities", "other_format", "pull_again", "test_again"]),
    (replace(FOUND, version="0.0.0"), ["other_format", "pull_again", "test_again"]),
    (replace(FOUND, version="0.2.9", kind="vllm"), ["other_format", "test_again"]),
    (replace(FOUND, version="0.6.4", failed=()), []),
    (replace(FOUND, version="a fork", failed=(), failing=True), ["check_server", "test_again"]),
    (replace(FOUND, failed=(), failing=True, refused=True), ["other_format", "pull_again", "test_again"]),
    (LONG, ["raise_context", "minimal_context", "test_again"]),
    (replace(LONG, context=0), ["minimal_context", "test_again"]),
    (replace(LONG, short=True), ["raise_context", "test_again"]),
    (
        replace(LONG, failed={"single", "turns"}),
        ["other_format", "pull_again", "raise_context", "test_again"],
    ),
]


# E8, D12
@every(("found", "expected"), CASES)
def test_the_steps_fit_what_failed(found: ExamFindings, expected: list[str]) -> None:
    assert steps(found) == expected
    assert all("{" not in sentence(code, found) for code in expected)


def test_each_step_has_a_case() -> None:
    assert {code for _, codes in CASES for code in codes} == set(STEPS)


def test_the_sentences_name_versions_formats_and_tokens() -> None:
    assert "Ollama 0.2.9 does not call tools. Update it to 0.3.0" in sentence(
        "update_for_tools", replace(FOUND, version="0.2.9")
    )
    assert "16,384 tokens" in sentence("raise_context", LONG)
    assert sentence("other_format", replace(FOUND, formats={"native", "pure_json"})).endswith("formats: hermes.")


def test_the_formats_to_try_can_be_run() -> None:
    assert other_formats(FOUND) == OTHER_FORMATS
    assert set(OTHER_FORMATS) <= set(FORMATS_OF_EXAMS)
