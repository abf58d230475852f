"""A message names the model that wrote it, where another one went on with its turn."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chat", "0020_sentences_as_codes"), ("toolsupport", "0030_history_of_settings")]

    operations = [
        migrations.AddField(
            model_name="message",
            name="profile",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                help_text="The model that wrote it, where another one went on with its turn.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="toolsupport.modelprofile",
            ),
        ),
    ]
