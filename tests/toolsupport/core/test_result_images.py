"""Images of results are shown where the server of a model takes them."""

from __future__ import annotations

from dataclasses import replace

from tests.toolsupport.core.test_rendering import HERMES, NATIVE, ONE, TWO, WORDS, result, said, user
from toolsupport.core.prompt import RenderTarget, history
from toolsupport.core.prompt.history_rendering import BROKEN_OFF, IMAGES_FOLLOW, IMAGES_OF_RESULTS
from toolsupport.core.types import ChatMessage, Role


def test_images_stay_where_they_were_shown() -> None:
    picture = ChatMessage(Role.USER, "", images=(b"\x89PNG1",))
    shot = ChatMessage(Role.TOOL, "a shot", call_id=ONE, name="f", images=(b"\x89PNG2",))
    log = (picture, said("", ONE), shot, user("and?"))
    for target in (NATIVE, WORDS, HERMES):
        assert [message.images for message in history(log, target) if message.images] == [(b"\x89PNG1",), shot.images]


APART = RenderTarget("native", words_after_results=True, images_in_results=False)
SHOT = ChatMessage(Role.TOOL, "a shot", call_id=ONE, name="f", images=(b"\x89PNG2",))


def test_images_of_results_follow_in_a_message_where_only_those_of_people_may_have_them() -> None:
    second = replace(SHOT, content="", call_id=TWO, images=(b"\x89PNG3", b"\x89PNG4"))
    shown = ChatMessage(Role.USER, IMAGES_OF_RESULTS, images=(*SHOT.images, *second.images))
    called = (user(), said("", ONE, TWO), result(ONE, f"a shot\n\n{IMAGES_FOLLOW}"), result(TWO, IMAGES_FOLLOW))
    log = (user(), said("", ONE, TWO), SHOT, second)
    assert history(log, APART) == (*called, shown)
    assert history((*log, said("Seen."), user("and?")), APART) == (*called, shown, said("Seen."), user("and?"))
    joined = replace(shown, content=f"{IMAGES_OF_RESULTS}\n\nand?")
    assert history((*log, user("and?")), APART) == (*called, joined)


def test_an_answer_stands_between_results_and_their_images_where_one_must() -> None:
    log = (user(), said("", ONE), SHOT, said("Seen."))
    called = (user(), said("", ONE), result(ONE, f"a shot\n\n{IMAGES_FOLLOW}"))
    shown = ChatMessage(Role.USER, IMAGES_OF_RESULTS, images=SHOT.images)
    for one_call in (False, True):
        mistral = replace(APART, call_format="mistral_json", one_call=one_call)
        assert history(log, mistral) == (*called, said(BROKEN_OFF), shown, said("Seen."))
