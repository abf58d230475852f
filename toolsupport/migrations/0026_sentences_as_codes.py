"""Keeps texts of earlier versions readable where columns now hold sentences as codes.

Such a column holds either a text or the JSON of a code with its parameters. A text that a person wrote and that begins
like that JSON is wrapped, so that it is shown as it was written; other rows stay as they are.
"""

from django.db import migrations

COLUMNS = (("Override", "reason"), ("HistoryEntry", "text"), ("Trial", "why"))


def wrap(apps, schema_editor):
    from toolsupport.core.sentence_codes import BEGINNING, encoded

    for name, column in COLUMNS:
        rows = apps.get_model("toolsupport", name).objects.filter(**{f"{column}__startswith": BEGINNING})
        for key, text in list(rows.values_list("pk", column)):
            rows.filter(pk=key).update(**{column: encoded(text)})


class Migration(migrations.Migration):
    dependencies = [("toolsupport", "0025_override_expiry")]
    operations = [migrations.RunPython(wrap, migrations.RunPython.noop)]
