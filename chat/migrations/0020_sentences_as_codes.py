"""Keeps texts of earlier versions readable where columns now hold sentences as codes.

Such a column holds either a text or the JSON of a code with its parameters. A text, such as the arguments of a call, that begins
like that JSON is wrapped, so that it is shown as it was written; other rows stay as they are.
"""

from django.db import migrations

COLUMNS = (("Question", "text"), ("Question", "reason"), ("Question", "preview"))


def wrap(apps, schema_editor):
    from toolsupport.core.sentence_codes import BEGINNING, encoded

    for name, column in COLUMNS:
        rows = apps.get_model("chat", name).objects.filter(**{f"{column}__startswith": BEGINNING})
        for key, text in list(rows.values_list("pk", column)):
            rows.filter(pk=key).update(**{column: encoded(text)})


class Migration(migrations.Migration):
    dependencies = [("chat", "0019_grant_path")]
    operations = [migrations.RunPython(wrap, migrations.RunPython.noop)]
