"""Adds pins to conversations."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("chat", "0013_outside_content"),
    ]

    operations = [
        migrations.AddField(
            model_name="conversation",
            name="pinned",
            field=models.BooleanField(default=False),
        ),
    ]
