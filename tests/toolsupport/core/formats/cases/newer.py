"""Replies of the families that came last: GLM 5, Solar Open, K2 Horizon and Command A+."""

from __future__ import annotations

from tests.toolsupport.core.formats.cases.case import Case
from tests.toolsupport.core.formats.cases.dialects import CALL, DAYS, JSON_CALL, case, file
from toolsupport.core.formats.bare_json import WRAPPERS_OF_CALLS

FORMATS: tuple[str, ...] = ()
TWO = [*CALL, ("now", {})]
SOLAR_CALL = '<|tool_call:begin|>a1b2c3<|tool_call:name|>weather<|tool_call:args|>{"city": "Oslo"}<|tool_call:end|>'
SOLAR_NOW = SOLAR_CALL.replace("a1b2c3", "d4").replace("weather", "now").replace('"city": "Oslo"', "")
SOLAR = f"<|tool_calls|>{SOLAR_CALL}<|calls|>"
TURN = "<|begin|>assistant"
CITY = "<|tool_arg:start|>city<|tool_arg:value|>Oslo<|tool_arg:end|>\n"
THREE = "<|tool_arg:start|>days<|tool_arg:value|>3<|tool_arg:end|>\n"
SOLAR2 = f"<|tool_call:start|>weather\n{CITY}<|tool_call:end|>"
SOLAR2_NOW = "<|tool_call:start|>now\n<|tool_call:end|>"
K2_CITY = "<ifm|arg_key>city</ifm|arg_key>\n<ifm|arg_value>Oslo</ifm|arg_value>\n"
K2_DAYS = "<ifm|arg_key>days</ifm|arg_key>\n<ifm|arg_type>integer</ifm|arg_type>\n<ifm|arg_value>3</ifm|arg_value>\n"
K2_CALL = f"<ifm|tool_call>weather\n{K2_CITY}</ifm|tool_call>"
K2 = f"<ifm|tool_calls>\n{K2_CALL}\n</ifm|tool_calls>"
K2_TWO = K2.replace(K2_CALL, f"{K2_CALL}\n<ifm|tool_call>now\n</ifm|tool_call>")

PAIRED = "glm45 auto hermes"
VALUE = "<arg_value>Oslo</arg_value>"


def without_tags() -> list[Case]:
    """Calls of GLM 4.7 and 5, which leave out opening tags under load, and close nothing after a name alone."""
    begun = f"<tool_call>weather<arg_key>city</arg_key>{VALUE}</tool_call>"
    days = "<arg_key>days</arg_key><arg_value>3</arg_value></tool_call>"
    written = {
        "the tag of a value": begun.replace("<arg_value>", ""),
        "the tag of a value, on lines": begun.replace("<arg_value>", "\n").replace("weather<", "weather\n<"),
        "the tag of a key": begun.replace("<arg_key>", ""),
        "the tag of a key, a space": begun.replace("<arg_key>", " "),
    }
    return [
        *(case(PAIRED, f"GLM without {what}", text, mended=True) for what, text in written.items()),
        *(
            case(PAIRED, f"GLM without {what}, two pairs", text.replace("</tool_call>", days), DAYS, mended=True)
            for what, text in written.items()
        ),
        case(PAIRED, "GLM, an end behind a name", "<tool_call>now</arg_value></tool_call>", [("now", {})], mended=True),
        case(PAIRED, "GLM, an end behind another name", "<tool_call>then</arg_value></tool_call>", [],
             text="<tool_call>then</arg_value></tool_call>"),
        case(PAIRED, "GLM, no value", "<tool_call>weather<arg_key>city</arg_key></tool_call>", [],
             text="<tool_call>weather<arg_key>city</arg_key></tool_call>", rejected=["weather"]),
        case(PAIRED, "GLM, words and an end", "A <tool_call>weather town</arg_key> is none.", [],
             text="A <tool_call>weather town</arg_key> is none."),
    ]  # fmt: skip


def in_other_tags() -> list[Case]:
    """Calls of Qwen2.5-Coder in the tags of its prompt and the like, and those of LM Studio."""
    formats = "hermes auto pure_json"
    rome = JSON_CALL.replace("Oslo", "Rome")
    both = [*CALL, ("weather", {"city": "Rome"})]
    defined = (
        '{"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}'
    )
    shown = (
        "The <tools> tag lists them.", f"<tools>\n{defined}\n</tools>", '<tools>{"a": 1}</tools>',
        f"<tools>{JSON_CALL} is one</tools>", f"It is `<tool>{JSON_CALL}</tool>` there.",
        f"<tools>{JSON_CALL.replace('weather', 'teleport')}</tools>",
    )  # fmt: skip
    return [
        *(case(formats, f"JSON in {mark}", f"{mark}\n{JSON_CALL}\n{end}") for mark, end in WRAPPERS_OF_CALLS.items()),
        case(formats, "JSON in tags of tools, two", f"<tools>{JSON_CALL}</tools>\n<tools>{rome}</tools>", both,
             text="\n"),
        case(formats, "JSON in tags of tools, two in one", f"<tools>\n{JSON_CALL}\n{rome}\n</tools>", both),
        case(formats, "JSON in tags of tools, a list", f"<tools>[{JSON_CALL}, {rome}]</tools>", both),
        case(formats, "JSON behind a tag that nothing closes", f"<function-call> {JSON_CALL}"),
        case(formats, "JSON in tags of tools, words", f"Ok.\n<tools>\n{JSON_CALL}\n</tools>", text="Ok.\n"),
        *(case(formats, f"no call: {text[:30]}", text, [], text=text) for text in shown),
    ]  # fmt: skip


CASES = [
    *in_other_tags(),
    *without_tags(),
    *(case("command_r7b auto hermes", f"the words of Command A+, {what}", f"{thinking}<|START_TEXT|>Cold.<|END_TEXT|>",
           [], text="Cold.", thinking=thinking and "hm")
      for what, thinking in (("alone", ""), ("with reasoning", "<|START_THINKING|>hm<|END_THINKING|>"))),
    case("solar_open auto", "Solar", SOLAR, mended=False),
    case("solar_open auto", "Solar, two", SOLAR.replace(SOLAR_CALL, SOLAR_CALL + SOLAR_NOW), TWO, mended=False),
    case("solar_open auto", "Solar, one without the turn", SOLAR_CALL, mended=False),
    case("solar_open auto", "Solar, reasoning and a call", f"<|think|>hm<|end|>{TURN}{SOLAR}", thinking="hm"),
    case("solar_open auto", "Solar, words and a call", f"<|content|>I look.\n<|end|>{TURN}{SOLAR}", text="I look.\n"),
    case("solar_open auto hermes", "Solar, reasoning and words", f"<|think|>hm<|end|>{TURN}<|content|>Hi.<|flush|>",
         [], text="Hi.", thinking="hm"),
    case("solar_open auto", "Solar, the end is missing", SOLAR_CALL.removesuffix("<|tool_call:end|>")),
    case("solar_open auto", "Solar, the end mark in a value",
         '<|tool_calls|><|tool_call:begin|>0<|tool_call:name|>write_file<|tool_call:args|>'
         '{"path": "a", "content": "<|tool_call:end|> x"}<|tool_call:end|><|calls|>', file("<|tool_call:end|> x"),
         mended=False),
    case("solar_open auto", "Solar, cut off", SOLAR[:94], [], text=SOLAR[:94], rejected=["weather"]),
    case("solar_open auto", "Solar, only mentioned", "<|tool_call:begin|> begins it, <|tool_calls|> all.", [],
         text="<|tool_call:begin|> begins it, <|tool_calls|> all."),
    case("solar_open auto", "Solar, quoted", f"It is `{SOLAR}` there.", [], text=f"It is `{SOLAR}` there."),
    case("solar_open2 auto", "Solar 2", SOLAR2, mended=False),
    case("solar_open2 auto", "Solar 2, a number", SOLAR2.replace(CITY, CITY + THREE), DAYS, mended=False),
    case("solar_open2 auto", "Solar 2, two", f"{SOLAR2}\n{SOLAR2_NOW}", TWO, text="\n", mended=False),
    case("solar_open2 auto", "Solar 2, reasoning and words", f"<|think:start|>hm<|think:end|>Ok.\n{SOLAR2}",
         text="Ok.\n", thinking="hm"),
    case("solar_open2 auto", "Solar 2, breaks belong to a text", SOLAR2.replace("Oslo", "Oslo\n\n"),
         [("weather", {"city": "Oslo\n\n"})], mended=False),
    case("solar_open2 auto", "Solar 2, not closed", SOLAR2.removesuffix("<|tool_call:end|>"), mended=True),
    case("solar_open2 auto", "Solar 2, only mentioned", "So <|tool_call:start|> it is.", [],
         text="So <|tool_call:start|> it is."),
    case("k2_horizon auto", "K2 Horizon", K2, mended=False),
    case("k2_horizon auto", "K2 Horizon, two", K2_TWO, TWO, mended=False),
    case("k2_horizon auto", "K2 Horizon, with a type", K2.replace(K2_CITY, K2_CITY + K2_DAYS), DAYS, mended=False),
    case("k2_horizon auto", "K2 Horizon, JSON", f"<ifm|tool_calls>\n<ifm|tool_call>{JSON_CALL}</ifm|tool_call>\n"
         "</ifm|tool_calls>"),
    case("k2_horizon auto", "K2 Horizon, one without the wrapper", K2_CALL),
    case("k2_horizon auto", "K2 Horizon, reasoning", f"<ifm|think_fast>hm</ifm|think_fast>\n{K2}", thinking="hm"),
    case("k2_horizon auto", "K2 Horizon, text around", f"Ok.\n{K2}\nDone.", text="Ok.\n\nDone."),
    case("k2_horizon auto", "K2 Horizon, only mentioned", "So <ifm|tool_calls> it is.", [],
         text="So <ifm|tool_calls> it is."),
]  # fmt: skip
