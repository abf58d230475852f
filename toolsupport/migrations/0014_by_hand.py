from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("toolsupport", "0013_context_sizes"),
    ]

    operations = [
        migrations.AddField(
            model_name="modelprofile",
            name="defined",
            field=models.BooleanField(
                default=False, help_text="A person defined it: it is there though its server does not list it."
            ),
        ),
        migrations.AddField(
            model_name="modelprofile",
            name="by_hand",
            field=models.JSONField(
                blank=True, default=dict, help_text="What a person wrote of it, by field: no survey changes it."
            ),
        ),
    ]
