"""Stores the exams of the team: cases that people added from chats, edited or imported."""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.db import IntegrityError, transaction
from django.db.models import Count, Max

from toolsupport.core import redaction
from toolsupport.core.errors import ConfigError, Conflict, NotFound
from toolsupport.core.exams.builtin import SUITES
from toolsupport.core.exams.cases import LONGEST_NAME, MOST_CASES, ExamCase, ExamSuite, read_case
from toolsupport.core.types import JSON, Role
from toolsupport.models import TeamCase, TeamExam
from toolsupport.registry.knowledge.effective_values import display_name

MOST_EXAMS = 200
LONGEST_QUESTION = 160
NO_EXAM = "This exam does not exist."
NO_CASE = "This case does not exist."


@dataclass(frozen=True, slots=True)
class ShownTeamExam:
    """An exam of the team in a list."""

    id: int
    name: str
    cases: int
    changed_at: str = ""


@dataclass(frozen=True, slots=True)
class ShownTeamCase:
    """A case in a list; `question` is the beginning of the last message of a person."""

    id: int
    name: str
    question: str
    expected: tuple[str, ...]
    version: int
    by: str
    changed_at: str


@dataclass(frozen=True, slots=True)
class EditedCase:
    """A case for its editor."""

    id: int
    exam: int
    exam_name: str
    version: int
    case: ExamCase


def listed() -> list[ShownTeamExam]:
    """Return all exams of the team, by name."""
    rows = TeamExam.objects.annotate(number=Count("cases"), last=Max("cases__changed_at")).order_by("folded")
    return [ShownTeamExam(row.pk, row.name, row.number, (row.last or row.created_at).isoformat()) for row in rows]


def names() -> list[str]:
    """Return the names of all exams of the team."""
    return list(TeamExam.objects.order_by("folded").values_list("name", flat=True))


def names_and_last() -> tuple[list[str], str]:
    """Return the names of all exams, and of the one with the newest case, "" if there is none."""
    rows = list(TeamExam.objects.annotate(last=Max("cases__changed_at")).order_by("folded").values_list("name", "last"))
    changed = {last: name for name, last in rows if last is not None}
    return [name for name, _ in rows], changed[max(changed)] if changed else ""


def shown(exam: int) -> ShownTeamExam:
    """Return one exam. Raises NotFound."""
    row = _exam(exam)
    return ShownTeamExam(row.pk, row.name, row.cases.count(), row.created_at.isoformat())


def cases(exam: int) -> list[ShownTeamCase]:
    """Return the cases of an exam in their order."""
    return [_shown_case(row) for row in TeamCase.objects.filter(exam_id=exam).select_related("changed_by")]


def suite_of(exam: int) -> ExamSuite:
    """Return an exam with its cases. Raises NotFound."""
    row = _exam(exam)
    return ExamSuite(row.name, tuple(_case(one) for one in row.cases.all()))


def suite(name: str) -> ExamSuite:
    """Return the exam of this name, with cases. Raises NotFound, ConfigError if it has none."""
    row = TeamExam.objects.filter(folded=_folded(name)).first()
    if row is None:
        raise NotFound(f"The team has no exam “{name}”.")
    found = suite_of(row.pk)
    if not found.cases:
        raise ConfigError(f"The exam “{row.name}” has no cases.")
    return found


def edited(case: int) -> EditedCase:
    """Return a case for its editor. Raises NotFound."""
    row = TeamCase.objects.select_related("exam").filter(pk=case).first()
    if row is None:
        raise NotFound(NO_CASE)
    return EditedCase(row.pk, row.exam_id, row.exam.name, row.version, _case(row))


def free_name(exam: str, wanted: str) -> str:
    """Return `wanted`, with a number after it if a case of this exam already has that name."""
    taken = set(TeamCase.objects.filter(exam__folded=_folded(exam)).values_list("name", flat=True))
    tried = (wanted, *(f"{wanted[: LONGEST_NAME - 8]}_{n}" for n in range(2, MOST_CASES + 2)))
    return next(name for name in tried if name not in taken)


@transaction.atomic
def add(exam_name: str, case: ExamCase, actor: int | None) -> int:
    """Add a case to an exam of this name, which is created if it is new; return the exam. Raises ConfigError."""
    name = _checked(exam_name)
    row = TeamExam.objects.filter(folded=_folded(name)).first() or _create(name, actor)
    if row.cases.count() >= MOST_CASES:
        raise ConfigError(f"The exam “{row.name}” has {MOST_CASES:,} cases, the maximum.")
    _insert(row, case, actor)
    return row.pk


@transaction.atomic
def change(edit: EditedCase, actor: int | None) -> None:
    """Replace a case by an edited one. Raises NotFound, Conflict if its version is another one, ConfigError."""
    row = TeamCase.objects.select_for_update().filter(pk=edit.id).first()
    if row is None:
        raise NotFound(NO_CASE)
    if row.version != edit.version:
        by = display_name(row.changed_by) or "another person"
        raise Conflict(f"{by} changed this case in the meantime. Compare the two, then save again.", str(row.version))
    row.name, row.body, row.version, row.changed_by_id = edit.case.id, _body(edit.case), row.version + 1, actor
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError:
        raise ConfigError(_twice(edit.case.id)) from None


def remove_case(case: int) -> int:
    """Remove a case; return its exam. Raises NotFound."""
    row = TeamCase.objects.filter(pk=case).first()
    if row is None:
        raise NotFound(NO_CASE)
    row.delete()
    return row.exam_id


def rename(exam: int, name: str) -> None:
    """Give an exam another name. Raises NotFound, ConfigError."""
    row = _exam(exam)
    row.name = _checked(name)
    row.folded = _folded(row.name)
    try:
        with transaction.atomic():
            row.save(update_fields=["name", "folded"])
    except IntegrityError:
        raise ConfigError(_known(row.name)) from None


def remove(exam: int) -> str:
    """Remove an exam with its cases; the results of its runs stay. Return its name. Raises NotFound."""
    row = _exam(exam)
    row.delete()
    return row.name


@transaction.atomic
def put(new: ExamSuite, actor: int | None) -> int:
    """Store an imported exam under a name that is new here; return it. Raises ConfigError."""
    name = _checked(new.name)
    if TeamExam.objects.filter(folded=_folded(name)).exists():
        raise ConfigError(_known(name))
    row = _create(name, actor)
    rows = [TeamCase(exam=row, name=case.id, body=_body(case), changed_by_id=actor) for case in new.cases]
    TeamCase.objects.bulk_create(rows, batch_size=100)
    return row.pk


def _create(name: str, actor: int | None) -> TeamExam:
    if TeamExam.objects.count() >= MOST_EXAMS:
        raise ConfigError(f"The team has {MOST_EXAMS} exams, the maximum.")
    return TeamExam.objects.create(name=name, folded=_folded(name), made_by_id=actor)


def _insert(exam: TeamExam, case: ExamCase, actor: int | None) -> None:
    try:
        with transaction.atomic():
            TeamCase.objects.create(exam=exam, name=case.id, body=_body(case), changed_by_id=actor)
    except IntegrityError:
        raise ConfigError(_twice(case.id)) from None


def _body(case: ExamCase) -> JSON:
    """Return a case as it is stored: without secrets."""
    made: JSON = redaction.redact_json(case.to_json())
    return made


def _checked(name: str) -> str:
    """Return the name of an exam without white space around it. Raises ConfigError."""
    found = " ".join(name.split())
    if not found:
        raise ConfigError("The exam needs a name.")
    if len(found) > LONGEST_NAME:
        raise ConfigError(f"The name of an exam has at most {LONGEST_NAME} characters.")
    if _folded(found) in SUITES or "/" in found:
        raise ConfigError(f"An exam cannot be called “{found}”. Choose another name.")
    return found


def _folded(name: str) -> str:
    return " ".join(name.split()).casefold()[:240]


def _known(name: str) -> str:
    return f"The team has an exam “{name}” already. Choose another name."


def _twice(name: str) -> str:
    return f"This exam has a case “{name}” already. Choose another name."


def _exam(exam: int) -> TeamExam:
    row = TeamExam.objects.filter(pk=exam).first()
    if row is None:
        raise NotFound(NO_EXAM)
    return row


def _case(row: TeamCase) -> ExamCase:
    return replace(read_case(row.body), id=row.name)


def _shown_case(row: TeamCase) -> ShownTeamCase:
    case = _case(row)
    asked = next((one.content for one in reversed(case.messages) if one.role is Role.USER), "")
    short = asked if len(asked) <= LONGEST_QUESTION else f"{asked[:LONGEST_QUESTION]}…"
    calls = tuple(call.name for call in case.expected)
    return ShownTeamCase(
        row.pk, row.name, short, calls, row.version, display_name(row.changed_by), row.changed_at.isoformat()
    )
