"""Column types for sentences that rows store as a code with parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import models

from toolsupport.core import sentence_codes
from toolsupport.core.sentence_codes import SentenceTable
from toolsupport.core.sentences import SENTENCES

if TYPE_CHECKING:
    Text = models.TextField[str, str]
    Char = models.CharField[str, str]
    Json = models.JSONField[Any, Any]
else:
    Text, Char, Json = models.TextField, models.CharField, models.JSONField  # generic for the type checker only


class SentenceColumn:
    """What the column types share: to migrations they are ordinary ones, and `table` has the sentences."""

    table: SentenceTable
    usual: str

    def __init__(self, *args: Any, table: SentenceTable = SENTENCES, **keywords: Any) -> None:
        self.table = table
        super().__init__(*args, **keywords)

    def deconstruct(self) -> tuple[str, str, list[Any], dict[str, Any]]:
        name, _, args, keywords = super().deconstruct()  # type: ignore[misc]
        return name, f"django.db.models.{self.usual}", list(args), dict(keywords)


class SentenceTextField(SentenceColumn, Text):
    """A text, or a sentence by its code."""

    usual = "TextField"

    def from_db_value(self, value: str | None, *_: object) -> str | None:
        return value if value is None else self.table.decoded(value)

    def get_prep_value(self, value: Any) -> Any:
        prepared = value if isinstance(value, str) else super().get_prep_value(value)
        return sentence_codes.encoded(prepared) if isinstance(prepared, str) else prepared


class SentenceCharField(SentenceColumn, Char):
    """The same for a short text."""

    usual = "CharField"
    from_db_value = SentenceTextField.from_db_value

    def get_prep_value(self, value: Any) -> Any:
        return sentence_codes.encoded(value) if isinstance(value, str) else super().get_prep_value(value)


class SentenceJSONField(SentenceColumn, Json):
    """A JSON value with sentences in it."""

    usual = "JSONField"

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        return self.table.restored(super().from_db_value(value, expression, connection))

    def get_prep_value(self, value: Any) -> Any:
        return super().get_prep_value(sentence_codes.plain(value))
