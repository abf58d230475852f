from django.db import migrations, models
from django.db.models import Min

# What these texts depend on was not recorded, and unknown is not no.
UNKNOWN = {"text": "the memory, which the model wrote before its sources were recorded", "at": ""}


def mark(apps, schema_editor):
    """Mark memories that a model wrote, what people made of them, and the answers that have read them."""
    Memory, Message = apps.get_model("chat", "Memory"), apps.get_model("chat", "Message")
    by_model = Memory.objects.filter(written_by=None).exclude(text="")
    for here, first, since in by_model.values_list("conversation").annotate(Min("id"), Min("written_at")):
        Memory.objects.filter(conversation=here, id__gte=first).exclude(text="").update(outside=[UNKNOWN])
        answers = Message.objects.filter(conversation=here, role="assistant", created_at__gte=since)
        answers.update(outside=[UNKNOWN])


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0012_formatted_messages'),
    ]

    operations = [
        migrations.AddField(
            model_name='memory',
            name='outside',
            field=models.JSONField(blank=True, default=list, help_text='The outside content that it depends on.'),
        ),
        migrations.AddField(
            model_name='message',
            name='outside',
            field=models.JSONField(blank=True, default=list, help_text='The outside content that an answer depends on.'),
        ),
        migrations.AddField(
            model_name='question',
            name='outside',
            field=models.JSONField(blank=True, default=list, help_text='The outside content in the chat that asks.'),
        ),
        migrations.RunPython(mark, migrations.RunPython.noop),
    ]
