"""The files and the commands around user_models.json."""

from __future__ import annotations

import json
import os
import stat
from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from tests.factories import ModelProfileFactory, ServerFactory
from toolsupport.core.errors import ConfigError, NotFound
from toolsupport.models import ModelProfile, Override
from toolsupport.registry.knowledge import overrides
from toolsupport.registry.knowledge.overrides import NewOverride
from toolsupport.registry.models.user_models_merge import MergeConsent
from toolsupport.services import user_models_files

pytestmark = pytest.mark.django_db
FILE = {"user_models": [{"id": "qwen3:8b", "source": "ollama", "tool_support": False, "x": 1}]}
CONFIRMED = json.dumps({"user_models": [FILE["user_models"][0] | {"tool_support_source": "user_confirmed"}]}).encode()


@pytest.fixture(autouse=True)
def profile() -> ModelProfile:
    return ModelProfileFactory(name="qwen3:8b", server=ServerFactory(name="box"))


def run(*words: str) -> str:
    out = StringIO()
    call_command(*words, stdout=out)
    return out.getvalue()


def test_a_bad_file_is_kept_and_nothing_changes() -> None:  # M6
    with pytest.raises(ConfigError, match="Line 1, column 2") as raised:
        user_models_files.take(b"{bad")
    kept = Path(str(raised.value).rsplit(" as ", 1)[1].rstrip("."))
    assert kept.read_bytes() == b"{bad"
    assert kept.parent == settings.DATA_DIR / "imports"
    assert not Override.objects.exists()


def test_a_file_is_merged_once() -> None:
    token = user_models_files.take(CONFIRMED)
    assert user_models_files.preview(token)[0].state == "known"
    user_models_files.merge(token, MergeConsent())
    with pytest.raises(NotFound):
        user_models_files.merge(token, MergeConsent())


@pytest.mark.parametrize("token", ["", "../secret", "0" * 64, "rejected-" + "0" * 64])
def test_only_what_was_taken_in_can_be_merged(token: str) -> None:
    with pytest.raises(NotFound):
        user_models_files.preview(token)


def test_previews_nobody_merged_are_forgotten_after_a_day_and_bad_files_are_not() -> None:
    directory = settings.DATA_DIR / "imports"
    directory.mkdir(exist_ok=True)
    for name in (f"{'0' * 64}.json", f"rejected-{'0' * 64}.json"):
        (directory / name).write_bytes(b"{}")
        os.utime(directory / name, (1, 1))
    user_models_files.take(CONFIRMED)
    assert not (directory / f"{'0' * 64}.json").exists()
    assert (directory / f"rejected-{'0' * 64}.json").exists()


def test_an_export_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # M6
    target = tmp_path / "user_models.json"
    run("export_models", str(target))
    before = target.read_text()
    assert json.loads(before)["user_models"][0]["id"] == "qwen3:8b"
    monkeypatch.setattr(os, "fsync", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run("export_models", str(target))
    assert target.read_text() == before
    assert list(tmp_path.iterdir()) == [target]


def test_the_name_of_an_export_outlasts_a_cut_of_the_power(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[bool] = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(stat.S_ISDIR(os.fstat(handle).st_mode)))
    run("export_models", str(tmp_path / "user_models.json"))
    assert synced == [False, True], "the file, then its directory"


def test_an_export_to_nowhere_says_so(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be written: No such file"):
        run("export_models", str(tmp_path / "missing" / "file.json"))
    assert run("export_models").startswith("{") and run("export_models", "-") == run("export_models")


def test_the_command_proposes_confirms_and_outranks(tmp_path: Path, bob: User, alice: User, profile: ModelProfile):
    file = tmp_path / "file.json"
    file.write_bytes(CONFIRMED)
    assert "tool_support: None → False (needs --confirm)" in run("import_models", str(file), "--dry-run")
    assert not Override.objects.exists()
    run("import_models", str(file))
    assert Override.objects.get().proposed
    with pytest.raises(CommandError, match="Name the person who decides"):
        run("import_models", str(file), "--confirm")
    with pytest.raises(CommandError, match="alice may not decide for everyone"):
        run("import_models", str(file), "--confirm", "--as", "alice")
    with pytest.raises(CommandError, match="There is no person named 'dora'"):
        run("import_models", str(file), "--confirm", "--as", "dora")
    run("import_models", str(file), "--confirm", "--as", "bob")
    assert Override.objects.get(proposed=False).actor == bob
    overrides.add(NewOverride(profile.pk, "tools", True))
    assert "(needs --outrank)" in run("import_models", str(file), "--as", "bob", "--outrank")
    assert overrides.stands(profile.pk, "tools").startswith("bob's override")


def test_the_command_says_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be read: No such file"):
        run("import_models", str(tmp_path / "missing.json"))
    (tmp_path / "bad.json").write_text("[]")
    with pytest.raises(CommandError, match="must be an object"):
        run("import_models", str(tmp_path / "bad.json"))
