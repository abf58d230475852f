import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def name_the_person(apps, schema_editor):
    """Give each recovery code the person of its factor."""
    factors = apps.get_model("toolsupport", "SecondFactor")
    of_this = factors.objects.filter(pk=models.OuterRef("factor_id")).values("person_id")
    apps.get_model("toolsupport", "RecoveryCode").objects.update(person_id=models.Subquery(of_this))


class Migration(migrations.Migration):

    dependencies = [
        ("toolsupport", "0037_remaining_steps"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Passkey",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=60)),
                ("site", models.CharField(help_text="The host that it belongs to.", max_length=255)),
                ("credential", models.CharField(help_text="Its id, in base64url.", max_length=1400, unique=True)),
                ("handle", models.CharField(help_text="The random id of the person on the device, in base64url.", max_length=90)),
                ("public_key", models.BinaryField()),
                ("sign_count", models.BigIntegerField(default=0, help_text="The counter of the device at the last use.")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("used_at", models.DateTimeField(null=True)),
                ("person", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="passkeys", to=settings.AUTH_USER_MODEL)),
            ],
            options={"ordering": ["id"]},
        ),
        migrations.AddField(
            model_name="recoverycode",
            name="person",
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name="recovery_codes", to=settings.AUTH_USER_MODEL),
        ),
        migrations.RunPython(name_the_person, migrations.RunPython.noop),
    ]
