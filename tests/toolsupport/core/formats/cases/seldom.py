"""Calls of the less common families; many more cases follow from FRAMES."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.toolsupport.core.formats.cases.case import Case
from tests.toolsupport.core.formats.cases.frames import OSLO, Frame, cases_of

FORMATS: tuple[str, ...] = ()
CALL = [("weather", OSLO)]
TWO = [*CALL, ("now", {})]
LIST = '[{"name": "weather", "arguments": {"city": "Oslo"}}, {"name": "now", "arguments": {}}]'
COHERE = '[{"tool_call_id": "0", "tool_name": "weather", "parameters": {"city": "Oslo"}}, {"tool_name": "now"}]'
V3 = '<｜tool▁call▁begin｜>function<｜tool▁sep｜>weather\n```json\n{"city": "Oslo"}\n```<｜tool▁call▁end｜>'
V31 = '<｜tool▁call▁begin｜>weather<｜tool▁sep｜>{"city": "Oslo"}<｜tool▁call▁end｜>'
UNFENCED = V3.replace("```json\n", "").replace("\n```", "")
BEGIN, END = "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"
KIMI = '<|tool_call_begin|>functions.weather:3<|tool_call_argument_begin|>{"city": "Oslo"}<|tool_call_end|>'
ASCII = f"{BEGIN}{V31}{END}".replace("｜", "|").replace("▁", "_")
NUMBERED = KIMI.replace("functions.weather:3", "3").replace("city", "statement")
SECTION, SECTION_END = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"
DSML = '<｜DSML｜invoke name="weather">\n{}</｜DSML｜invoke>'
CITY = '<｜DSML｜parameter name="city" string="true">Oslo</｜DSML｜parameter>\n'
DAYS = '<｜DSML｜parameter name="days" string="false">2</｜DSML｜parameter>\n'
SPACED = DSML.format(CITY).replace("｜DSML｜", "｜DSML｜ ")
DSML_BLOCK = f"<｜DSML｜function_calls>\n{DSML.format(CITY)}\n</｜DSML｜function_calls>"
GLM = "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n</tool_call>"
M2 = '<invoke name="weather">\n<parameter name="city">Oslo</parameter>\n</invoke>'
MARK = "]<]minimax[>["
M3 = f'{MARK}<invoke name="weather">\n{MARK}<city>Oslo{MARK}</city>\n{MARK}</invoke>'
M3_BLOCK = f"{MARK}<tool_call>\n{M3}\n{MARK}</tool_call>"
K3_CITY = '<|open|>argument key="city" type="string"<|sep|>Oslo<|close|>argument<|sep|>'
K3 = f'<|open|>call tool="weather" index="1"<|sep|>{K3_CITY}<|close|>call<|sep|>'
K3_BLOCK = f"<|open|>tools<|sep|>{K3}<|close|>tools<|sep|>"
K3_DAYS = '<|open|>argument key="days" type="number"<|sep|>2<|close|>argument<|sep|>'
K3_JSON = '<|open|>json type="object"<|sep|>{"city": "Oslo"}<|close|>json<|sep|>'
HARMONY = '<|channel|>commentary to=functions.weather <|constrain|>json<|message|>{"city": "Oslo"}<|call|>'


def case(format_: str, name: str, reply: str, calls: list | None = None, **more: object) -> Case:
    return Case(name, reply, CALL if calls is None else calls, formats=(format_,), **more)  # type: ignore[arg-type]


CASES = [
    case("glm45", "GLM", GLM, mended=False),
    case("auto", "GLM, not announced", f"Wait.\n{GLM}", text="Wait.\n"),
    case("glm45", "GLM on one line", GLM.replace("\n", "")),
    case("glm45", "GLM without arguments", "<tool_call>now</tool_call>", [("now", {})]),
    case("glm45", "GLM, two", f"{GLM}\n<tool_call>now\n</tool_call>", TWO),
    case(
        "glm45",
        "GLM, types of the schema",
        "<tool_call>weather\n<arg_key>days</arg_key>\n<arg_value>2</arg_value>\n<arg_key>city</arg_key>\n"
        "<arg_value>12</arg_value>\n</tool_call>",
        [("weather", {"days": 2, "city": "12"})],
    ),
    case("glm45", "GLM, nothing is closed", GLM.removesuffix("</arg_value>\n</tool_call>") + "\n</tool_call>",
         [("weather", {"city": "Oslo\n"})], mended=True),
    case("glm45", "GLM, a tag in a value", GLM.replace("Oslo", "a </tool_call> b"),
         [("weather", {"city": "a </tool_call> b"})]),
    case("glm45", "GLM falls into Hermes' way", f"<tool_call>{LIST[1:-1]}</tool_call>", TWO),
    case("glm45", "GLM, only mentioned", "The tag <tool_call> begins it.", [], text="The tag <tool_call> begins it."),
    case("glm45", "GLM, cut off", GLM[:60], [], text=GLM[:60], rejected=["weather"]),
    case("deepseek_v3", "DeepSeek V3", f"{BEGIN}{V3}\n{V3}{END}", CALL * 2, mended=False),
    case("deepseek_v3", "DeepSeek V3 without a fence", f"{BEGIN}{UNFENCED}{END}"),
    case("deepseek_v3", "DeepSeek V3 without the outer marks", V3),
    case("deepseek_v31", "DeepSeek V3.1", f"So. {BEGIN}{V31}{V31}{END}", CALL * 2, text="So. "),
    case("deepseek_v31", "DeepSeek, written by a keyboard", ASCII),
    case("deepseek_v31", "DeepSeek, the end is missing", BEGIN + V31.removesuffix("<｜tool▁call▁end｜>")),
    case("auto", "DeepSeek, not announced", f"{BEGIN}{V3}{END}"),
    case("deepseek_dsml", "DSML", DSML_BLOCK, mended=False),
    case(
        "deepseek_dsml",
        "DSML of V4, a number",
        f"<｜DSML｜tool_calls>\n{DSML.format(CITY + DAYS)}\n</｜DSML｜tool_calls>",
        [("weather", {"city": "Oslo", "days": 2})],
    ),
    *(case(name, "DSML of V4.1, with spaces", f"Ok.\n\n<｜DSML｜ calls>\n{SPACED}\n</｜DSML｜ calls>", text="Ok.\n\n")
      for name in ("deepseek_dsml", "auto")),
    case("auto", "DSML without the outer tags", DSML.format(CITY)),
    case("auto", "DSML, not announced", f"<｜DSML｜tool_calls>\n{DSML.format(CITY)}\n</｜DSML｜tool_calls>"),
    case("minimax_m2", "MiniMax", f"<minimax:tool_call>\n{M2}\n{M2}\n</minimax:tool_call>", CALL * 2, mended=False),
    case("auto", "MiniMax, not announced", f"<minimax:tool_call>\n{M2}\n</minimax:tool_call>"),
    case("minimax_m3", "MiniMax M3", f"So. {M3_BLOCK}", text="So. ", mended=False),
    case("minimax_m3", "MiniMax M3, two", M3_BLOCK.replace(M3, f"{M3}\n{M3}"), CALL * 2, mended=False),
    case("minimax_m3", "MiniMax M3, one without a block", f"{M3} Done.", text=" Done."),
    case("minimax_m3", "MiniMax M3, types of the schema",
         M3_BLOCK.replace(f"{MARK}<city>", f"{MARK}<days>2{MARK}</days>{MARK}<city>"),
         [("weather", {"days": 2, "city": "Oslo"})], mended=False),
    case("minimax_m3", "MiniMax M3, parts in an argument",
         f'{MARK}<invoke name="search">{MARK}<tags>{MARK}<item>a{MARK}</item>{MARK}<item>b{MARK}</item>{MARK}</tags>'
         f"{MARK}<filters>{MARK}<year>2020{MARK}</year>{MARK}</filters>{MARK}</invoke>",
         [("search", {"tags": ["a", "b"], "filters": {"year": "2020"}})]),
    case("minimax_m3", "MiniMax M3, plain tags are text",
         M3.replace("Oslo", "<b>Oslo</b> </invoke>"), [("weather", {"city": "<b>Oslo</b> </invoke>"})], mended=False),
    case("minimax_m3", "MiniMax M3, an end is missing", M3_BLOCK.replace(f"{MARK}</city>", ""),
         [("weather", {"city": "Oslo\n"})], mended=True),
    case("minimax_m3", "MiniMax M3, the call is not closed", M3_BLOCK.replace(f"{MARK}</invoke>\n", ""), mended=True),
    case("minimax_m3", "MiniMax M3, an argument twice",
         M3.replace(f"{MARK}</city>", f"{MARK}</city>{MARK}<city>Rome{MARK}</city>"), mended=True),
    case("minimax_m3", "MiniMax M3, cut off", M3[:60], [], text=M3[:60], rejected=["weather"]),
    case("minimax_m3", "MiniMax M3, only mentioned", f"{MARK} begins it.", [], text=f"{MARK} begins it."),
    case("auto", "MiniMax M3, not announced", M3_BLOCK),
    case("kimi_k3", "Kimi K3", f"So. {K3_BLOCK}", text="So. ", mended=False),
    case("kimi_k3", "Kimi K3, two", K3_BLOCK.replace(K3, K3 + K3.replace('index="1"', 'index="2"')), CALL * 2,
         mended=False),
    case("kimi_k3", "Kimi K3, its channels",
         f"<|open|>think<|sep|>Cold?<|close|>think<|sep|><|open|>response<|sep|>I look.<|close|>response<|sep|>"
         f"{K3_BLOCK}<|close|>message<|sep|>", text="I look.", thinking="Cold?", mended=False),
    case("kimi_k3", "Kimi K3, a number", K3.replace(K3_CITY, K3_CITY + K3_DAYS),
         [("weather", {"city": "Oslo", "days": 2})], mended=False),
    case("kimi_k3", "Kimi K3, arguments as JSON", K3_BLOCK.replace(K3_CITY, K3_JSON), mended=False),
    case("kimi_k3", "Kimi K3, a name with an entity", K3.replace("city", "&#99;ity"), mended=False),
    case("kimi_k3", "Kimi K3, spaces belong to a text", K3.replace("Oslo", " Os<lo\n"),
         [("weather", {"city": " Os<lo\n"})], mended=False),
    case("kimi_k3", "Kimi K3, the ends are missing", K3.removesuffix("<|close|>call<|sep|>"), mended=True),
    case("kimi_k3", "Kimi K3, cut off", K3[:95], [], text=K3[:95], rejected=["weather"]),
    case("kimi_k3", "Kimi K3, only mentioned", "<|open|>call it.", [], text="<|open|>call it."),
    case("auto", "Kimi K3, not announced", K3_BLOCK),
    case("kimi_k2", "Kimi", f"{SECTION}{KIMI}{KIMI.replace('3', '4')}{SECTION_END}", CALL * 2, mended=False),
    case("kimi_k2", "Kimi without a section", KIMI),
    case("kimi_k2", "Kimi, a name with a dash",
         KIMI.replace("weather", "run-sql").replace("city", "statement"), [("run-sql", {"statement": "Oslo"})]),
    case("auto", "Kimi, not announced", f"Well. {SECTION}{KIMI}{SECTION_END}", text="Well. "),
    case("harmony", "Harmony", HARMONY, mended=False),
    case("harmony", "Harmony, the role in front", f"<|start|>assistant{HARMONY}"),
    case("harmony", "Harmony, the receiver in front",
         '<|start|>assistant to=functions.weather<|channel|>commentary json<|message|>{"city": "Oslo"}<|call|>'),
    case("harmony", "Harmony, reasoning and a call",
         f"<|channel|>analysis<|message|>Cold?<|end|><|start|>assistant{HARMONY}", thinking="Cold?"),
    case("harmony", "Harmony, an answer", "<|channel|>final<|message|>It is cold.<|return|>", [], text="It is cold."),
    case("harmony", "Harmony, code instead of JSON",
         "<|channel|>commentary to=python_execution <|constrain|>code<|message|>print(1)<|call|>",
         [("python_execution", {"code": "print(1)"})], mended=True),
    case("seed_oss", "Seed",
         "<seed:tool_call>\n<function=weather>\n<parameter=city>Oslo</parameter>\n</function>\n</seed:tool_call>"),
    case("functiongemma", "FunctionGemma",
         "<start_function_call>call:weather{city:<escape>Oslo<escape>}<end_function_call>", mended=False),
    case("gemma4", "Gemma 4", '<|tool_call>call:weather{city:<|"|>O}s{lo<|"|>,days:3}<tool_call|>',
         [("weather", {"city": "O}s{lo", "days": 3})], mended=False),
    case("gemma4", "Gemma 4, nested", '<|tool_call>call:note{a:[<|"|>x<|"|>,{b:null}],c:true}<tool_call|>Ok.',
         [("note", {"a": ["x", {"b": None}], "c": True})], text="Ok."),
    case("auto", "Gemma 4, not announced", '<|tool_call>call:weather{city:<|"|>Oslo<|"|>}<tool_call|>'),
    case("functionary_v31", "Functionary 3.1", '<function=weather>{"city": "Oslo"}</function>', mended=False),
    case("functionary_v32", "Functionary 3.2",
         '>>>all\nI will look.\n>>>weather\n{"city": "Oslo"}\n>>>now\n{}', TWO, text="I will look.\n"),
    case("granite", "Granite", f"<|tool_call|>{LIST}", TWO, mended=False),
    case("granite", "Granite with another tag", f"<tool_call>{LIST}", TWO),
    case("granite_20b_fc", "Granite 20B",
         '<function_call> {"name": "weather", "arguments": {"city": "Oslo"}} <function_call> {"name": "now"}', TWO),
    case("command_r7b", "Command R7B",
         f"<|START_THINKING|>Cold?<|END_THINKING|><|START_ACTION|>{COHERE}<|END_ACTION|>", TWO, thinking="Cold?"),
    case("command_r_plus", "Command R+", f"Action: ```json\n{COHERE}\n```", TWO),
    case("nemotron_toolcall", "Nemotron", f"<TOOLCALL>{LIST}</TOOLCALL>", TWO),
    case("jamba", "Jamba", f"Sure. <tool_calls>{LIST}</tool_calls>", TWO, text="Sure. "),
    case("hunyuan_a13b", "Hunyuan", f"<tool_calls>\n{LIST}\n</tool_calls>", TWO),
    case("phi4_mini", "Phi-4 mini", f"functools{LIST}", TWO),
    case("phi4_mini", "Phi-4 mini, as its page writes it", f"<|tool_call|>{LIST}<|/tool_call|>", TWO),
    case("auto", "Phi-4 mini, as its page writes it, in auto", f"<|tool_call|>{LIST}<|/tool_call|>", TWO),
    case("firefunction", "FireFunction", f" functools{LIST}", TWO),
    case("internlm2", "InternLM",
         '<|action_start|><|plugin|>\n{"name": "weather", "parameters": {"city": "Oslo"}}<|action_end|>'),
    case("xlam", "xLAM", LIST, TWO),
    case("xlam", "xLAM in a fence", f"```json\n{LIST}\n```", TWO),
    case("apertus", "Apertus", '<|tools_prefix|>[{"weather": {"city": "Oslo"}}, {"now": {}}]<|tools_suffix|>', TWO),
    case("glm4_name_newline_json", "GLM-4", 'weather\n{"city": "Oslo"}\nnow\n{}', TWO, text=""),
    case("tool_code_python", "Python in Gemma's fence", '```tool_code\nweather(city="Oslo")\n```'),
    case("nemotron_v2", "Nemotron Nano 2", f"<TOOLCALL>{LIST}</TOOLCALL>", TWO),
    case("command_r7b", "Command R7B, words", "<|START_RESPONSE|>Cold.<|END_RESPONSE|>", [], text="Cold."),
    case("minimax_m2", "MiniMax, values on lines",
         f"<minimax:tool_call>\n{M2.replace('Oslo', chr(10) + 'Oslo' + chr(10))}\n</minimax:tool_call>"),
    case("kimi_k2", "Kimi, a number instead of a name", NUMBERED,
         [("run-sql", {"statement": "Oslo"})]),
    case("functionary_v32", "Functionary 3.2, begun by the prompt", 'weather\n{"city": "Oslo"}'),
    case("functionary_v32", "Functionary 3.2, words begun by the prompt", "all\nHello.", [], text="Hello."),
]  # fmt: skip


def frame(one: Callable[[str, str], str], half: str, between: str = "") -> Frame:
    return Frame(one, between.join, half, f"Write `{half}` for it.", json=True)


FRAMES = {
    "deepseek_v3": frame(
        lambda name, written: V3.replace("weather", name).replace('{"city": "Oslo"}', written),
        "<｜tool▁ca",
    ),
    "deepseek_v31": frame(
        lambda name, written: f"<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{written}<｜tool▁call▁end｜>", "<｜tool▁ca"
    ),
    "kimi_k2": frame(
        lambda name, written: f"<|tool_call_begin|>{name}:0<|tool_call_argument_begin|>{written}<|tool_call_end|>",
        "<|tool_ca",
    ),
    "harmony": frame(
        lambda name, written: f"<|channel|>commentary to=functions.{name}<|message|>{written}<|call|>", "<|chan"
    ),
    "functionary_v31": frame(lambda name, written: f"<function={name}>{written}</function>", "<functi"),
    "granite_20b_fc": frame(
        lambda name, written: f'<function_call> {{"name": "{name}", "arguments": {written}}}', "<function_", "\n"
    ),
    "nemotron_toolcall": frame(
        lambda name, written: f'<TOOLCALL>[{{"name": "{name}", "arguments": {written}}}]</TOOLCALL>', "<TOOL", "\n"
    ),
    "jamba": frame(
        lambda name, written: f'<tool_calls>[{{"name": "{name}", "arguments": {written}}}]</tool_calls>', "<tool_c"
    ),
    "internlm2": frame(
        lambda name, written: (
            f'<|action_start|><|plugin|>{{"name": "{name}", "parameters": {written}}}<|action_end|>'
        ),
        "<|action_", "\n",
    ),
    "command_r7b": frame(
        lambda name, written: (
            f'<|START_ACTION|>[{{"tool_name": "{name}", "parameters": {written}}}]<|END_ACTION|>'
        ),
        "<|START_ACT", "\n",
    ),
    "apertus": frame(
        lambda name, written: f'<|tools_prefix|>[{{"{name}": {written}}}]<|tools_suffix|>', "<|tools_p", "\n"
    ),
}  # fmt: skip


def framed(name: str) -> Iterator[Case]:
    """The situations that every format has, in this one."""
    return cases_of(FRAMES[name])
