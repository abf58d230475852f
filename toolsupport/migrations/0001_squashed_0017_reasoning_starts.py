"""Creates the tables of models, servers and people in one step, with the groups that stand for the roles.

A fresh database runs this file; a database that has some of the replaced files goes on with them. They stay until
no site is older than 0.2.0. Step 0012 filled a column of existing rows, so there is nothing of it to do here.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


ROLES = ('viewer', 'user', 'reviewer', 'admin')


def create_groups(apps, schema_editor):
    groups = apps.get_model('auth', 'Group').objects.using(schema_editor.connection.alias)
    for name in ROLES:
        groups.get_or_create(name=name)


class Migration(migrations.Migration):

    replaces = [
        ('toolsupport', '0001_initial'),
        ('toolsupport', '0002_roles'),
        ('toolsupport', '0003_people'),
        ('toolsupport', '0004_detections'),
        ('toolsupport', '0005_measured'),
        ('toolsupport', '0006_knowing'),
        ('toolsupport', '0007_call_metrics'),
        ('toolsupport', '0008_audit'),
        ('toolsupport', '0009_api_keys'),
        ('toolsupport', '0010_mcp_servers'),
        ('toolsupport', '0011_sql_sources'),
        ('toolsupport', '0012_history_facets'),
        ('toolsupport', '0013_context_sizes'),
        ('toolsupport', '0014_by_hand'),
        ('toolsupport', '0015_mcp_in_house'),
        ('toolsupport', '0016_missing_flag'),
        ('toolsupport', '0017_reasoning_starts'),
    ]

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ApiKey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=80)),
                ('prefix', models.CharField(max_length=16)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('scopes', models.JSONField()),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('used_at', models.DateTimeField(blank=True, null=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='api_keys', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='Audit',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField()),
                ('deed', models.CharField(help_text='What was done, a key of DEEDS.', max_length=40)),
                ('subject', models.CharField(db_index=True, help_text='To which thing, by its id.', max_length=80)),
                ('reason', models.TextField()),
                ('previous', models.CharField(help_text='The digest of the row before, so none is left.', max_length=64, unique=True)),
                ('digest', models.CharField(max_length=64)),
                ('actor', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='Family',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=80, unique=True)),
                ('patterns', models.JSONField(help_text='Names in one spelling, as in ["my-model"]; the longest one that fits wins.')),
                ('excepted', models.JSONField(blank=True, default=list, help_text='Words a name must not have.')),
                ('tools', models.BooleanField(blank=True, help_text='Calls tools natively.', null=True)),
                ('call_format', models.CharField(blank=True, default='', max_length=40)),
                ('parallel', models.BooleanField(blank=True, null=True)),
                ('streaming_calls', models.BooleanField(blank=True, null=True)),
                ('prompt_style', models.CharField(blank=True, default='', max_length=40)),
                ('multi_turn', models.CharField(blank=True, default='', max_length=20)),
                ('max_tools', models.PositiveIntegerField(blank=True, null=True)),
                ('refuses', models.JSONField(blank=True, default=list, help_text='Names of tools it is known to refuse.')),
                ('thinking', models.BooleanField(blank=True, null=True)),
                ('vision', models.BooleanField(blank=True, null=True)),
                ('context', models.PositiveIntegerField(blank=True, help_text='In tokens.', null=True)),
                ('notes', models.TextField(blank=True, default='', help_text='Where this is known from.')),
                ('enabled', models.BooleanField(default=True)),
            ],
            options={
                'verbose_name_plural': 'families',
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='HistoryFacet',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=12)),
                ('source', models.CharField(blank=True, default='', max_length=20)),
                ('verdict', models.CharField(blank=True, default='', max_length=20)),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(fields=('kind', 'source', 'verdict'), name='one_facet_of_each')],
            },
        ),
        migrations.CreateModel(
            name='Lease',
            fields=[
                ('name', models.CharField(max_length=80, primary_key=True, serialize=False)),
                ('owner', models.CharField(max_length=64)),
                ('until', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='McpServer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=32, unique=True)),
                ('kind', models.CharField(help_text='http or stdio.', max_length=10)),
                ('url', models.URLField(blank=True, default='', max_length=300)),
                ('token', models.TextField(blank=True, default='', help_text='Encrypted; never shown again.')),
                ('enabled', models.BooleanField(default=True)),
                ('version', models.CharField(blank=True, default='', help_text='As the server says it.', max_length=120)),
                ('reachable', models.BooleanField(help_text='Unknown until it was asked once.', null=True)),
                ('last_seen_at', models.DateTimeField(blank=True, null=True)),
                ('checked_at', models.DateTimeField(blank=True, null=True)),
                ('down_since', models.DateTimeField(blank=True, null=True)),
                ('last_error', models.TextField(blank=True, default='')),
                ('left_out', models.JSONField(blank=True, default=list, help_text='What of its list could not be taken, in words.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('in_house', models.BooleanField(default=False, help_text='What models tell it goes nowhere else.')),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='McpTool',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=128)),
                ('definition', models.JSONField(blank=True, default=dict)),
                ('digest', models.CharField(blank=True, default='', max_length=64)),
                ('approved_at', models.DateTimeField(blank=True, null=True)),
                ('read_only', models.BooleanField(default=False, help_text='Only an administrator says so, never the server.')),
                ('enabled', models.BooleanField(default=True)),
                ('waiting', models.JSONField(blank=True, null=True)),
                ('waiting_digest', models.CharField(blank=True, default='', max_length=64)),
                ('waiting_since', models.DateTimeField(blank=True, null=True)),
                ('gone_since', models.DateTimeField(blank=True, null=True)),
                ('approved_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('server', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tools', to='toolsupport.mcpserver')),
            ],
            options={
                'ordering': ['server__name', 'name'],
                'constraints': [models.UniqueConstraint(fields=('server', 'name'), name='one_row_per_server_and_tool')],
            },
        ),
        migrations.CreateModel(
            name='PromptCount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('build_key', models.CharField(max_length=32)),
                ('tools_digest', models.CharField(blank=True, help_text='Blank: no tools.', max_length=32)),
                ('characters', models.PositiveIntegerField()),
                ('tokens', models.PositiveIntegerField()),
                ('counted_at', models.DateTimeField(auto_now=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('build_key', 'tools_digest'), name='one_count_per_build_and_tools')],
            },
        ),
        migrations.CreateModel(
            name='ProvenCall',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('build_key', models.CharField(max_length=32)),
                ('tool', models.CharField(max_length=120)),
                ('arguments', models.JSONField()),
                ('proven_at', models.DateTimeField(auto_now=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('build_key', 'tool'), name='one_proven_call_per_build_and_tool')],
            },
        ),
        migrations.CreateModel(
            name='ReadMark',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('entry', models.BigIntegerField(default=0)),
                ('at', models.DateTimeField(auto_now=True)),
                ('person', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='read_mark', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Server',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=80, unique=True)),
                ('kind', models.CharField(help_text='A key of providers.PROVIDERS.', max_length=40)),
                ('base_url', models.URLField(max_length=300)),
                ('api_key', models.TextField(blank=True, default='', help_text='Encrypted; never shown again.')),
                ('enabled', models.BooleanField(default=True)),
                ('origin', models.CharField(default='page', help_text='page, command, environment or built-in.', max_length=20)),
                ('version', models.CharField(blank=True, default='', max_length=80)),
                ('reachable', models.BooleanField(help_text='Unknown until it was asked once.', null=True)),
                ('last_seen_at', models.DateTimeField(blank=True, null=True)),
                ('checked_at', models.DateTimeField(blank=True, null=True)),
                ('down_since', models.DateTimeField(blank=True, null=True)),
                ('last_error', models.TextField(blank=True, default='')),
                ('options', models.JSONField(blank=True, default=dict)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='ModelProfile',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(help_text='The id the server wants in a request.', max_length=200)),
                ('digest', models.CharField(blank=True, default='', max_length=100)),
                ('template_hash', models.CharField(blank=True, default='', max_length=64)),
                ('family', models.CharField(blank=True, default='', help_text='A family of the table, or blank.', max_length=80)),
                ('parameter_count', models.BigIntegerField(blank=True, null=True)),
                ('quantization', models.CharField(blank=True, default='', max_length=40)),
                ('context_length', models.PositiveIntegerField(blank=True, help_text='Trained context, in tokens.', null=True)),
                ('default_context', models.PositiveIntegerField(default=8192, help_text='num_ctx we ask for, in tokens.')),
                ('size_bytes', models.BigIntegerField(blank=True, null=True)),
                ('loaded', models.BooleanField(default=False, help_text="In the server's memory when it was last asked.")),
                ('abilities', models.JSONField(blank=True, default=list, help_text='What the server declares, as it says it.')),
                ('description', models.TextField(blank=True, default='')),
                ('enabled', models.BooleanField(default=True)),
                ('options', models.JSONField(blank=True, default=dict)),
                ('extra', models.JSONField(blank=True, default=dict, help_text='Imported fields we do not use, kept.')),
                ('first_seen', models.DateTimeField(auto_now_add=True)),
                ('last_seen', models.DateTimeField(blank=True, null=True)),
                ('gone_since', models.DateTimeField(blank=True, null=True)),
                ('server', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='profiles', to='toolsupport.server')),
                ('team_family', models.JSONField(blank=True, default=dict, help_text="What the team's own family says, if any.")),
                ('context_before', models.PositiveIntegerField(default=0, help_text='num_ctx until it was changed; 0: none.')),
                ('context_build', models.CharField(blank=True, default='', help_text='The build it did not load with.', max_length=32)),
                ('context_failed', models.PositiveIntegerField(default=0, help_text='The smallest num_ctx that did not load; 0: none.')),
                ('defined', models.BooleanField(default=False, help_text='A person defined it: it is there though its server does not list it.')),
                ('by_hand', models.JSONField(blank=True, default=dict, help_text='What a person wrote of it, by field: no survey changes it.')),
                ('missing_flag', models.CharField(blank=True, default='', help_text='The setting its server lacks for tools; blank: none.', max_length=200)),
                ('missing_flag_since', models.DateTimeField(blank=True, null=True)),
                ('begins_inside', models.BooleanField(blank=True, help_text='Its replies begin inside reasoning; blank: not known.', null=True)),
                ('begins_inside_build', models.CharField(blank=True, default='', help_text='The build that this was seen of.', max_length=32)),
            ],
            options={
                'ordering': ['server__name', 'name'],
                'constraints': [models.UniqueConstraint(fields=('server', 'name'), name='one_profile_per_server_and_name')],
            },
        ),
        migrations.CreateModel(
            name='CallMetric',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('format', models.CharField(max_length=40)),
                ('outcome', models.CharField(max_length=20)),
                ('day', models.DateField()),
                ('calls', models.PositiveIntegerField(default=0)),
                ('latency_ms', models.PositiveBigIntegerField(default=0)),
                ('tokens', models.PositiveBigIntegerField(default=0)),
                ('profile', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='call_metrics', to='toolsupport.modelprofile')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('profile', 'format', 'outcome', 'day'), name='one_count_per_model_format_outcome_and_day')],
            },
        ),
        migrations.CreateModel(
            name='Detection',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('build_key', models.CharField(max_length=32)),
                ('kind', models.CharField(default='tools', help_text='A key of detection.KINDS.', max_length=20)),
                ('trigger', models.CharField(help_text='What asked for it: page, chat, command, api, bulk, refusal, drift, program.', max_length=20)),
                ('status', models.CharField(default='queued', help_text='queued, running, done, cancelled, interrupted or failed.', max_length=12)),
                ('owner', models.CharField(blank=True, default='', help_text='The worker that runs it.', max_length=64)),
                ('lease_until', models.DateTimeField(blank=True, null=True)),
                ('cancel_requested_at', models.DateTimeField(blank=True, null=True)),
                ('skip_requested', models.CharField(blank=True, default='', help_text='The step to leave out.', max_length=30)),
                ('progress', models.JSONField(blank=True, default=list, help_text='[{step, state, detail}] so far, in order.')),
                ('verdict', models.CharField(blank=True, default='', help_text='One of core.verdicts.VERDICTS.', max_length=20)),
                ('detail', models.JSONField(blank=True, default=dict, help_text='What the verdict rests on: format, passed, tried, flag, why.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('load_ms', models.PositiveIntegerField(blank=True, null=True)),
                ('run_ms', models.PositiveIntegerField(blank=True, null=True)),
                ('actor', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('profile', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='detections', to='toolsupport.modelprofile')),
            ],
            options={
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['status', 'lease_until'], name='detection_by_status')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('status__in', ('queued', 'running'))), fields=('build_key', 'kind'), name='one_open_detection_per_build_and_kind')],
            },
        ),
        migrations.CreateModel(
            name='Override',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seq', models.PositiveIntegerField(help_text='1, 2, 3 … for each profile.')),
                ('capability', models.CharField(max_length=60)),
                ('value', models.JSONField(null=True)),
                ('source', models.CharField(help_text='One of core.sources.STORED.', max_length=20)),
                ('session', models.CharField(blank=True, default='', help_text='A conversation; blank is everyone.', max_length=40)),
                ('build_key', models.CharField(max_length=32)),
                ('reason', models.TextField(blank=True, default='')),
                ('proposed', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('accepts', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='accepted_by', to='toolsupport.override')),
                ('actor', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('profile', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='overrides', to='toolsupport.modelprofile')),
                ('withdraws', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='withdrawn_by', to='toolsupport.override')),
                ('detection', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='overrides', to='toolsupport.detection')),
                ('said_at', models.DateTimeField(blank=True, help_text='When it was said elsewhere, if it was imported.', null=True)),
            ],
            options={
                'ordering': ['profile', 'seq'],
                'constraints': [models.UniqueConstraint(fields=('profile', 'seq'), name='one_override_per_profile_and_seq')],
            },
        ),
        migrations.CreateModel(
            name='Review',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('decision', models.CharField(help_text='agree, disagree or note.', max_length=12)),
                ('note', models.TextField(blank=True, default='')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('detection', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='reviews', to='toolsupport.detection')),
                ('override', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='reviews', to='toolsupport.override')),
                ('reviewer', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.CheckConstraint(condition=models.Q(('override__isnull', True), ('detection__isnull', True), _connector='XOR'), name='review_of_one_thing')],
            },
        ),
        migrations.CreateModel(
            name='HistoryEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField()),
                ('kind', models.CharField(help_text='override, withdrawal, proposal, detection, refusal, review or drift.', max_length=12)),
                ('capability', models.CharField(blank=True, default='', max_length=60)),
                ('before', models.JSONField(help_text='What held for everyone before, null for unknown.', null=True)),
                ('after', models.JSONField(help_text='What holds for everyone since, null for unknown.', null=True)),
                ('source', models.CharField(blank=True, default='', max_length=20)),
                ('verdict', models.CharField(blank=True, default='', max_length=20)),
                ('text', models.TextField(blank=True, default='', help_text='Why, in words.')),
                ('evidence', models.JSONField(blank=True, default=dict, help_text='What a refusal rests on: status, rule, body (redacted).')),
                ('actor', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('detection', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='toolsupport.detection')),
                ('override', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='toolsupport.override')),
                ('profile', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='toolsupport.modelprofile')),
                ('server', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='toolsupport.server')),
                ('review', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='toolsupport.review')),
                ('facet', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='toolsupport.historyfacet')),
            ],
            options={
                'ordering': ['-at', '-id'],
                'indexes': [models.Index(fields=['at', 'id'], name='history_by_time'), models.Index(fields=['facet', 'at', 'id'], name='history_by_facet'), models.Index(fields=['profile', 'facet', 'at', 'id'], name='history_by_model'), models.Index(fields=['server', 'facet', 'at', 'id'], name='history_by_server'), models.Index(fields=['actor', 'facet', 'at', 'id'], name='history_by_person'), models.Index(fields=['profile', 'actor', 'facet', 'at', 'id'], name='history_by_model_and_person'), models.Index(fields=['server', 'actor', 'facet', 'at', 'id'], name='history_by_server_and_person')],
            },
        ),
        migrations.CreateModel(
            name='Session',
            fields=[
                ('session_key', models.CharField(max_length=40, primary_key=True, serialize=False, verbose_name='session key')),
                ('session_data', models.TextField(verbose_name='session data')),
                ('expire_date', models.DateTimeField(db_index=True, verbose_name='expire date')),
                ('person', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='browser_sessions', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'session',
                'verbose_name_plural': 'sessions',
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='Setting',
            fields=[
                ('key', models.CharField(max_length=80, primary_key=True, serialize=False)),
                ('value', models.JSONField(null=True)),
                ('changed_at', models.DateTimeField(auto_now=True)),
            ],
        ),
        migrations.CreateModel(
            name='SignInTally',
            fields=[
                ('key', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('tries', models.PositiveIntegerField(default=0)),
                ('until', models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.CreateModel(
            name='SqlSource',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=40, unique=True)),
                ('kind', models.CharField(help_text='A key of sources.KINDS.', max_length=20)),
                ('location', models.TextField(help_text='Encrypted, as it may hold a password; never shown again.')),
                ('enabled', models.BooleanField(default=True)),
                ('tables', models.JSONField(blank=True, default=list)),
                ('looked_at', models.DateTimeField(blank=True, null=True)),
                ('why', models.TextField(blank=True, default='', help_text='Why it cannot be read, or empty.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('groups', models.ManyToManyField(blank=True, help_text='Whose chats may read it.', related_name='+', to='auth.group')),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='Standing',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('capability', models.CharField(max_length=60)),
                ('value', models.JSONField(null=True)),
                ('source', models.CharField(max_length=30)),
                ('since', models.CharField(blank=True, default='', max_length=40)),
                ('reason', models.TextField()),
                ('stale', models.BooleanField(default=False)),
                ('override', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='toolsupport.override')),
                ('profile', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='standings', to='toolsupport.modelprofile')),
            ],
            options={
                'ordering': ['profile', 'capability'],
                'constraints': [models.UniqueConstraint(fields=('profile', 'capability'), name='one_standing_per_profile_and_capability')],
            },
        ),
        migrations.CreateModel(
            name='Trial',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seq', models.PositiveIntegerField(help_text='1, 2, 3 … for each detection.')),
                ('step', models.CharField(help_text='A key of detection.DETECTORS.', max_length=30)),
                ('n', models.PositiveIntegerField(default=1, help_text='1, 2, 3 … within its step.')),
                ('request', models.JSONField(default=dict)),
                ('response', models.JSONField(default=dict)),
                ('status', models.PositiveIntegerField(blank=True, help_text='The HTTP status, where there was one.', null=True)),
                ('duration_ms', models.PositiveIntegerField(default=0)),
                ('prompt_tokens', models.PositiveIntegerField(blank=True, null=True)),
                ('output_tokens', models.PositiveIntegerField(blank=True, null=True)),
                ('passed', models.BooleanField(help_text='Unknown where the trial says nothing about the model.', null=True)),
                ('why', models.TextField(blank=True, default='')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('detection', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='trials', to='toolsupport.detection')),
            ],
            options={
                'ordering': ['detection', 'seq'],
                'constraints': [models.UniqueConstraint(fields=('detection', 'seq'), name='one_trial_per_detection_and_seq')],
            },
        ),
        # Going back leaves the groups: people may be in them.
        migrations.RunPython(create_groups, migrations.RunPython.noop),
    ]
