import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


# Apart from the one before: PostgreSQL changes no table whose rows the same transaction has written.
class Migration(migrations.Migration):

    dependencies = [("toolsupport", "0038_passkeys")]

    operations = [
        migrations.RemoveConstraint(model_name="recoverycode", name="one_recovery_code_of_a_factor"),
        migrations.RemoveField(model_name="recoverycode", name="factor"),
        migrations.AlterField(
            model_name="recoverycode",
            name="person",
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="recovery_codes", to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddConstraint(
            model_name="recoverycode",
            constraint=models.UniqueConstraint(fields=("person", "digest"), name="one_recovery_code_of_a_person"),
        ),
    ]
