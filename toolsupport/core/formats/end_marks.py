"""Leaves out end-of-turn marks that a server passes on as text.

Only at the end of a reply, or right after a call: anywhere else the text is about them.
"""

from __future__ import annotations

import re

from toolsupport.core.scanner import MarkerSet

END_MARKS = (
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|eot|>",
    "<|eom|>",
    "<|end_of_text|>",
    "<|endoftext|>",
    "<|end_of_turn|>",
    "<|endofturn|>",
    "[|endofturn|]",
    "<|END_OF_TURN_TOKEN|>",
    "<|end_of_role|>",
    "<|end_of_sentence|>",
    "<|end|>",
    "<|return|>",
    "<|eos|>",
    "<|observation|>",
    "<｜end▁of▁sentence｜>",
    "<|end▁of▁sentence|>",
    "<end_of_turn>",
    "<turn|>",
    "<end_of_utterance>",
    "<eos>",
    # The beginnings of a result, at which FunctionGemma and Gemma 4 stop.
    "<start_function_response>",
    "<|tool_response>",
    "<|assistant_end|>",
    "<|role_end|>",
    "<|EOT|>",
    "<|flush|>",
    "<|calls|>",
    "<|user|>",
    "</s>",
    "[EOS]",
    "[e~[",
    "<|endofresponse|>",
    "</longcat_s>",
    "<seed:eos>",
    "<SPECIAL_12>",
    "<|end_message|>",
    "<|content_model_end_sampling|>",
)
STRUCK = "<s>"  # opens struck-out text, which </s> closes
MARKS = MarkerSet([*END_MARKS, STRUCK])
FIRST = re.compile("[<[]")
SPACE = re.compile(r"\s*")


class EndMarkFilter:
    """Removes end marks at the end of the text. A possible one is held back."""

    def __init__(self) -> None:
        self._run: list[str] = []
        self._partial = ""
        self._struck = self._behind_a_call = False

    def text(self, piece: str) -> str:
        """Return the text that is certain."""
        if not (self._run or self._partial or FIRST.search(piece)):
            return self._shown(piece)
        text, self._partial = self._partial + piece, ""
        shown: list[str] = []
        at = 0
        while at < len(text) and not self._partial:
            at = self._in_run(text, at, shown) if self._run else self._in_text(text, at, shown)
        return "".join(shown)

    def call(self) -> str:
        """Return the text that was held back before a call."""
        text = self._ended_run() + self._partial
        self._partial, self._behind_a_call = "", True
        return text

    def flush(self) -> str:
        """End the reply: remove marks at its end."""
        if self._partial:
            return self.call()
        run, self._run = self._run, []
        return "".join(filter(str.isspace, run))

    def _shown(self, text: str) -> str:
        self._behind_a_call = self._behind_a_call and (not text or text.isspace())
        return text

    def _in_run(self, text: str, at: int, shown: list[str]) -> int:
        """Hold marks and the space around them; anything else decides what they are."""
        space = SPACE.match(text, at).group()  # type: ignore[union-attr]  # matches everywhere
        mark = space or MARKS.match(text, at)
        if mark and mark != STRUCK:
            self._run.append(mark)
            return at + len(mark)
        if MARKS.begins(text[at:]):
            self._partial = text[at:]
        else:
            shown.append(self._shown(self._ended_run()))
        return at

    def _in_text(self, text: str, at: int, shown: list[str]) -> int:
        found, unsure = MARKS.search(text, at), MARKS.unsure_from(text, at)
        end = found.start() if found and found.start() < unsure else unsure
        shown.append(self._shown(text[at:end]))
        if end == unsure or not found:
            self._partial = text[unsure:]
            return len(text)
        if found.group() == STRUCK or (found.group() == "</s>" and self._struck):
            self._struck = True
            shown.append(self._shown(found.group()))
        else:
            self._run.append(found.group())
        return found.end()

    def _ended_run(self) -> str:
        run, self._run = self._run, []
        return "".join(filter(str.isspace, run) if self._behind_a_call else run)
