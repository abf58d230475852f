from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("chat", "0018_pending_files")]

    operations = [
        migrations.AddField(
            model_name="grant",
            name="path",
            field=models.CharField(
                blank=True, default="", help_text="The only file it holds for.", max_length=1000
            ),
        ),
        migrations.RemoveConstraint(model_name="grant", name="one_grant_in_force"),
        migrations.AddConstraint(
            model_name="grant",
            constraint=models.UniqueConstraint(
                condition=Q(("revoked_at", None)), fields=("conversation", "tool", "path"), name="one_grant_in_force"
            ),
        ),
    ]
