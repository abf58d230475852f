"""Cases of the Berkeley Function Calling Leaderboard become cases of an exam; this data is ours, in its shape."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.bfcl import __main__ as bfcl_exam
from tests.bfcl.cases import CALLED, CATEGORIES, Category
from tests.factories import ModelProfileFactory, ServerFactory
from tests.toolsupport.services.simulator_thread import running_simulator
from toolsupport.core.exams.cases import ExamCase
from toolsupport.core.exams.grading import CaseReply, grade
from toolsupport.core.types import ToolCall
from toolsupport.models import ExamRun

POINT = {"type": "dict", "properties": {"x": {"type": "float"}, "label": {"type": "string"}}, "required": ["x"]}
PARAMETERS = {
    "type": "dict",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "unit": {"type": "string"},
        "at": POINT,
        "path": {"type": "array", "items": POINT},
    },
    "required": ["city"],
}
WEATHER = {"name": "weather.get", "description": "Returns the weather of a city.", "parameters": PARAMETERS}
OSLO = {"weather.get": {"city": ["Oslo", "Oslo, Norway"], "days": [3], "unit": ["celsius", ""]}}
AT = {"weather.get": {"city": ["Oslo"], "at": [{"x": [1, 2], "label": ["a", ""]}], "path": [[{"x": [5]}]]}}
MISFIT = {"weather.get": {"city": ["Oslo"], "days": ["three"]}}


def lines(file: Path, rows: list[dict[str, Any]]) -> None:
    file.write_text("\n".join(map(json.dumps, rows)))


def entry(name: str, *tools: dict[str, Any]) -> dict[str, Any]:
    words = "What will the weather be in Oslo in the next 3 days?"
    return {"id": name, "question": [[{"role": "user", "content": words}]], "function": [*tools] or [WEATHER]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The data of a `bfcl_eval/data`: two entries in each category, and some that cannot be asked."""
    (tmp_path / "possible_answer").mkdir()
    for name in CATEGORIES:
        calls = {f"{name}_0": [OSLO], f"{name}_1": [AT, OSLO], f"{name}_2": [MISFIT]}
        entries = [entry(one) for one in calls]
        lines(tmp_path / f"BFCL_v4_{name}.json", [*entries, entry(f"{name}_3", WEATHER, WEATHER)])
        if name in CALLED:
            truth = [{"id": one, "ground_truth": right} for one, right in calls.items()]
            lines(tmp_path / "possible_answer" / f"BFCL_v4_{name}.json", truth)
    return tmp_path


def right(case: ExamCase, *made: dict[str, Any]) -> bool | None:
    calls = tuple(ToolCall(str(number), "weather_get", arguments) for number, arguments in enumerate(made))
    return grade(case, CaseReply(calls, len(calls), text="Done.")).right


def test_entries_become_cases_and_the_others_are_counted(folder: Path) -> None:
    found = Category(folder, "simple_python")
    assert [case.id for case in found.cases] == ["simple_python_0", "simple_python_1"] and found.left_out == 2
    [tool] = found.cases[0].tools
    assert tool.name == "weather_get" and tool.parameters["properties"]["at"]["properties"]["x"] == {"type": "number"}
    assert [case.expected for case in Category(folder, "irrelevance").cases[:2]] == [(), ()]


CITY = {"city": "Oslo", "days": 3}
PLACE = {"city": "oslo", "at": {"x": 2.0, "label": "a"}, "path": [{"x": 5}]}


@pytest.mark.parametrize(
    ("made", "is_right"),
    [
        ([CITY], True),
        ([CITY | {"city": "Oslo, Norway", "unit": "Celsius"}], True),
        ([CITY | {"unit": "kelvin"}], False),
        ([CITY | {"days": "3"}], False),
        ([CITY | {"at": {"x": 1}}], False),
        ([{"days": 3}], False),
        ([CITY, CITY], False),
        ([], False),
    ],
)
def test_all_possible_values_of_an_argument_are_right(folder: Path, made: list[Any], is_right: bool) -> None:
    assert right(Category(folder, "simple_python").cases[0], *made) is is_right


@pytest.mark.parametrize(
    ("at", "is_right"),
    [({"x": 1}, True), ({"x": 2, "label": "a"}, True), ({"x": 3}, False), ({"x": 1, "label": "b"}, False)],
)
def test_objects_have_all_combinations_of_their_values(folder: Path, at: dict[str, Any], is_right: bool) -> None:
    case = Category(folder, "multiple").cases[1]
    assert right(case, CITY, PLACE | {"at": at}) is is_right
    assert right(case, PLACE | {"at": at}, CITY) is is_right


def test_parallel_calls_must_stand_in_one_reply(folder: Path) -> None:
    case = Category(folder, "parallel").cases[1]
    calls = (ToolCall("0", "weather_get", CITY), ToolCall("1", "weather_get", PLACE))
    assert grade(case, CaseReply(calls, 1, text="Done.")).code == "one_by_one"


def test_a_sample_is_always_the_same(folder: Path) -> None:
    name = "live_simple"
    rows = [entry(f"{name}_{number}") for number in range(50)]
    lines(folder / f"BFCL_v4_{name}.json", rows)
    truth = [{"id": row["id"], "ground_truth": [OSLO]} for row in rows]
    lines(folder / "possible_answer" / f"BFCL_v4_{name}.json", truth)
    first, again = (Category(folder, name).sample(10) for _ in range(2))
    assert first == again and len({case.id for case in first}) == 10
    assert len(Category(folder, name).sample(0)) == len(Category(folder, name).sample(99)) == 50


@pytest.mark.django_db(transaction=True)
def test_a_model_gets_a_table_with_a_row_for_each_category(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with running_simulator() as url:
        server = ServerFactory(name="box", kind="simulator", base_url=url)
        ModelProfileFactory(server=server, name="sim-honest")
        words = ["--data", str(folder), "--model", "box/sim-honest", "--sample", "1", "--format", "native"]
        code = bfcl_exam.main([*words, "--category", "simple_python", "--category", "irrelevance"])
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines() if line.startswith("| ")]
    assert code == 0 and [row[0] for row in rows] == ["| category", "| simple_python", "| irrelevance", "| all"]
    assert rows[-1][1].endswith(" of 2") and rows[1][3] in ("21% to 100%", "0% to 79%")
    assert [run.paper.suite for run in ExamRun.objects.order_by("pk")] == ["BFCL simple_python", "BFCL irrelevance"]


@pytest.mark.django_db(transaction=True)
def test_an_unknown_model_and_a_folder_without_data_are_inconclusive(folder: Path, tmp_path: Path) -> None:
    assert bfcl_exam.main(["--data", str(folder), "--model", "nobody"]) == 2
    assert bfcl_exam.main(["--data", str(tmp_path / "none"), "--model", "nobody"]) == 2
