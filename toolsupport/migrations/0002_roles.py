"""Creates the groups that stand for the roles."""

from django.db import migrations

ROLES = ("viewer", "user", "reviewer", "admin")


def create(apps, schema_editor):
    groups = apps.get_model("auth", "Group").objects.using(schema_editor.connection.alias)
    for name in ROLES:
        groups.get_or_create(name=name)


class Migration(migrations.Migration):
    dependencies = [
        ("toolsupport", "0001_initial"),
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    # Going back leaves the groups: people may be in them.
    operations = [migrations.RunPython(create, migrations.RunPython.noop)]
