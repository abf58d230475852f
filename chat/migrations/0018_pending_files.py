from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0017_call_faults'),
    ]

    operations = [
        migrations.AddField(
            model_name='conversation',
            name='pending',
            field=models.JSONField(blank=True, default=list, help_text='Files for a message that was not sent yet.'),
        ),
    ]
