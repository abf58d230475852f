"""The history has lines about settings of models."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("toolsupport", "0029_quotas")]

    operations = [
        migrations.AlterField(
            model_name="historyentry",
            name="kind",
            field=models.CharField(
                help_text="override, withdrawal, proposal, detection, refusal, review, drift or setting.",
                max_length=12,
            ),
        ),
    ]
