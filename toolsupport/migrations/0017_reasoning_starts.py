from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('toolsupport', '0016_missing_flag'),
    ]

    operations = [
        migrations.AddField(
            model_name='modelprofile',
            name='begins_inside',
            field=models.BooleanField(blank=True, help_text='Its replies begin inside reasoning; blank: not known.', null=True),
        ),
        migrations.AddField(
            model_name='modelprofile',
            name='begins_inside_build',
            field=models.CharField(blank=True, default='', help_text='The build that this was seen of.', max_length=32),
        ),
    ]
