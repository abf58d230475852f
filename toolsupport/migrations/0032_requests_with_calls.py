"""The counts of calls know how many requests had this outcome as their worst."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("toolsupport", "0031_identities")]

    operations = [
        migrations.AddField(
            model_name="callmetric", name="requests", field=models.PositiveIntegerField(default=0)
        ),
    ]
