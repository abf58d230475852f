"""Creates the tables of conversations in one step.

A fresh database runs this file; a database that has some of the replaced files goes on with them. They stay until
no site is older than 0.2.0.
"""

import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('chat', '0001_initial'),
        ('chat', '0002_questions'),
        ('chat', '0003_attachments'),
        ('chat', '0004_share'),
        ('chat', '0005_basis'),
        ('chat', '0006_in_prose'),
        ('chat', '0007_calls_inside_calls'),
        ('chat', '0008_prompts_and_memory'),
        ('chat', '0009_result_tables'),
        ('chat', '0010_served_otherwise'),
    ]

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ('toolsupport', '0017_reasoning_starts'),
    ]

    operations = [
        migrations.CreateModel(
            name='Prompt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=60)),
                ('description', models.CharField(blank=True, default='', max_length=200)),
                ('text', models.TextField()),
                ('withdrawn', models.BooleanField(default=False, help_text='The prompt is not offered any more.')),
                ('written_at', models.DateTimeField(auto_now_add=True)),
                ('written_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['id'],
                'indexes': [models.Index(fields=['name', '-id'], name='versions_of_a_prompt')],
            },
        ),
        migrations.CreateModel(
            name='Conversation',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('title', models.CharField(blank=True, default='', max_length=200)),
                ('tail', models.PositiveIntegerField(default=0)),
                ('settings', models.JSONField(blank=True, default=dict)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now_add=True, db_index=True)),
                ('archived', models.BooleanField(default=False)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='conversations', to=settings.AUTH_USER_MODEL)),
                ('profile', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='toolsupport.modelprofile')),
            ],
            options={
                'ordering': ['-updated_at'],
                'indexes': [models.Index(fields=['owner', '-updated_at'], name='conversations_of_a_person')],
            },
        ),
        migrations.CreateModel(
            name='Grant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('tool', models.CharField(max_length=120)),
                ('granted_at', models.DateTimeField(auto_now_add=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='grants', to='chat.conversation')),
                ('granted_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('revoked_at', None)), fields=('conversation', 'tool'), name='one_grant_in_force')],
            },
        ),
        migrations.CreateModel(
            name='Memory',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('text', models.TextField(blank=True, default='')),
                ('written_at', models.DateTimeField(auto_now_add=True)),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memories', to='chat.conversation')),
                ('written_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'memories',
                'ordering': ['id'],
                'indexes': [models.Index(fields=['conversation', '-id'], name='memory_of_a_conversation')],
            },
        ),
        migrations.CreateModel(
            name='Share',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shared_at', models.DateTimeField(auto_now_add=True)),
                ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='shares', to='chat.conversation')),
                ('reader', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('withdrawn_at', None)), fields=('conversation', 'reader'), name='one_share_in_force')],
            },
        ),
        migrations.CreateModel(
            name='Turn',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('client_id', models.CharField(max_length=64)),
                ('status', models.CharField(default='queued', max_length=20)),
                ('owner', models.CharField(blank=True, default='', help_text='The process that runs it.', max_length=64)),
                ('lease_until', models.DateTimeField(blank=True, null=True)),
                ('stop_requested_at', models.DateTimeField(blank=True, null=True)),
                ('capabilities', models.JSONField(blank=True, default=dict)),
                ('format', models.CharField(blank=True, default='', max_length=40)),
                ('usage', models.JSONField(blank=True, default=dict)),
                ('reason', models.TextField(blank=True, default='')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='turns', to='chat.conversation')),
                ('profile', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='toolsupport.modelprofile')),
                ('program', models.CharField(blank=True, default='', help_text='Asked for by a program, which was told or not.', max_length=10)),
            ],
            options={
                'ordering': ['id'],
                'indexes': [models.Index(fields=['status', 'lease_until'], name='turns_to_claim_or_settle')],
                'constraints': [models.UniqueConstraint(fields=('conversation', 'client_id'), name='one_turn_per_client_id'), models.UniqueConstraint(condition=models.Q(('status__in', ('queued', 'running', 'waiting'))), fields=('conversation',), name='one_open_turn')],
            },
        ),
        migrations.CreateModel(
            name='Message',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(max_length=20)),
                ('content', models.TextField(blank=True, default='')),
                ('thinking', models.TextField(blank=True, default='')),
                ('thinking_ms', models.PositiveIntegerField(blank=True, null=True)),
                ('calls', models.JSONField(blank=True, default=list)),
                ('code', models.CharField(blank=True, default='', help_text='Which notice, for role notice.', max_length=40)),
                ('finished', models.BooleanField(default=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='messages', to='chat.conversation')),
                ('parent', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='children', to='chat.message')),
                ('turn', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='messages', to='chat.turn')),
                ('attachments', models.JSONField(blank=True, default=list, help_text='Paths of images in the workspace.')),
            ],
            options={
                'ordering': ['id'],
                'indexes': [models.Index(fields=['conversation', 'id'], name='messages_of_a_conversation')],
            },
        ),
        migrations.CreateModel(
            name='ToolRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('call_id', models.CharField(max_length=80)),
                ('name', models.CharField(max_length=120)),
                ('asked_as', models.CharField(blank=True, default='', max_length=120)),
                ('served_by', models.CharField(blank=True, default='', max_length=120)),
                ('arguments', models.JSONField(blank=True, default=dict)),
                ('result', models.TextField(blank=True, default='')),
                ('error', models.TextField(blank=True, default='')),
                ('status', models.CharField(default='running', max_length=20)),
                ('level', models.CharField(blank=True, default='', max_length=2)),
                ('format', models.CharField(blank=True, default='', max_length=40)),
                ('duration_ms', models.PositiveIntegerField(blank=True, null=True)),
                ('repairs', models.JSONField(blank=True, default=list)),
                ('raw', models.TextField(blank=True, default='', help_text='What the model really wrote.')),
                ('started_at', models.DateTimeField(auto_now_add=True)),
                ('message', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tool_runs', to='chat.message')),
                ('turn', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tool_runs', to='chat.turn')),
                ('in_prose', models.BooleanField(default=False, help_text='It stood in the text of an answer, and a person is asked.')),
                ('program', models.ForeignKey(blank=True, help_text='What made this call.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='inner', to='chat.toolrun')),
                ('snapshot', models.BinaryField(blank=True, help_text='A program that waits for a call of its own.', null=True)),
                ('asked_arguments', models.JSONField(blank=True, help_text='Those of the call it was asked as; empty where it is served as asked.', null=True)),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(fields=('message', 'call_id'), name='one_run_per_message_and_call')],
            },
        ),
        migrations.CreateModel(
            name='Question',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(help_text='approval, unknown_model, runtime_learning or prose_call.', max_length=30)),
                ('text', models.TextField()),
                ('options', models.JSONField(default=list)),
                ('preview', models.TextField(blank=True, default='', help_text='What would change, as a unified diff.')),
                ('binds', models.CharField(blank=True, default='', help_text='Digest of what is allowed.', max_length=64)),
                ('answer', models.CharField(blank=True, default='', max_length=30)),
                ('answered_at', models.DateTimeField(blank=True, null=True)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('answered_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='questions', to='chat.conversation')),
                ('tool_run', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='questions', to='chat.toolrun')),
                ('turn', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='questions', to='chat.turn')),
                ('basis', models.CharField(blank=True, default='', help_text='Digest of what the preview replaces.', max_length=64)),
            ],
            options={
                'ordering': ['id'],
                'indexes': [models.Index(fields=['answer', 'expires_at'], name='questions_to_expire')],
            },
        ),
        migrations.CreateModel(
            name='ResultTable',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('csv', models.TextField()),
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='table', to='chat.toolrun')),
            ],
        ),
        migrations.AddField(
            model_name='conversation',
            name='leaf',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='chat.message'),
        ),
    ]
