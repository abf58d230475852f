"""Adds the facts of a notice, from which its sentence is made; rows of earlier versions keep their sentence."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0015_question_words'),
    ]

    operations = [
        migrations.AddField(
            model_name='message',
            name='facts',
            field=models.JSONField(blank=True, help_text='The facts of a notice; empty in rows with a sentence.', null=True),
        ),
    ]
