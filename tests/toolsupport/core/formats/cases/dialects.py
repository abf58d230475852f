"""Calls of the newest families: invoke tags under several names, pairs of tags, CDATA."""

from __future__ import annotations

from tests.toolsupport.core.formats.cases.case import Case
from tests.toolsupport.core.formats.cases.frames import OSLO
from toolsupport.core.types import JSON

FORMATS: tuple[str, ...] = ()
CALL = [("weather", OSLO)]
TWO = [*CALL, ("now", {})]
DAYS = [("weather", {"city": "Oslo", "days": 3})]
JSON_CALL = '{"name": "weather", "arguments": {"city": "Oslo"}}'
CLAUDE = "antml:"


def invoke(namespace: str = "", name: str = "weather", **values: str) -> str:
    """One call in invoke tags of a namespace."""
    inside = "".join(
        f'<{namespace}parameter name="{key}">{value}</{namespace}parameter>\n' for key, value in values.items()
    )
    return f'<{namespace}invoke name="{name}">\n{inside}</{namespace}invoke>'


def block(wrapper: str, *calls: str) -> str:
    return "\n".join([f"<{wrapper}>", *calls, f"</{wrapper}>"])


def case(formats: str, name: str, reply: str, calls: list[tuple[str, JSON]] | None = None, **more: object) -> Case:
    """`formats` by their names with spaces between them."""
    return Case(name, reply, CALL if calls is None else calls, formats=tuple(formats.split()), **more)  # type: ignore[arg-type]


def file(value: str) -> list[tuple[str, JSON]]:
    return [("write_file", {"path": "a", "content": value})]


# wrapper, namespace, the format that writes it
INVOKES = (
    ("function_calls", "", "invoke"),
    (f"{CLAUDE}function_calls", CLAUDE, "invoke"),
    ("minimax:tool_call", "", "minimax_m2"),
    ("dots_function_call", "", "dots"),
    ("steptml:function_calls", "steptml:", "step3"),
    ("atem:function_calls", "atem:", "muse_glimmer"),
)


def of_invoke(wrapper: str, namespace: str, name: str) -> list[Case]:
    """The situations of every dialect of the invoke tags."""
    both = f"{name} auto"
    one = invoke(namespace, city="Oslo")
    typed = invoke(namespace, city="Oslo", days="3")
    now, end = invoke(namespace, "now"), f"</{namespace}parameter>"
    return [
        case(both, f"{wrapper}: one", block(wrapper, one), mended=False),
        case(both, f"{wrapper}: on one line", block(wrapper, one).replace("\n", "")),
        case(both, f"{wrapper}: two in a block", block(wrapper, one, now), TWO, mended=False),
        case(both, f"{wrapper}: two blocks", f"{block(wrapper, one)}\n{block(wrapper, now)}", TWO, mended=False),
        case(both, f"{wrapper}: text around", f"So.\n{block(wrapper, one)}\nDone.", text="So.\n\nDone."),
        case(both, f"{wrapper}: a number", block(wrapper, typed), DAYS, mended=False),
        case(both, f"{wrapper}: a list and an object",
             block(wrapper, invoke(namespace, "search", tags='["a", "b"]', filters='{"year": 2020}')),
             [("search", {"tags": ["a", "b"], "filters": {"year": 2020}})], mended=False),
        case(both, f"{wrapper}: the last line break belongs to the value",
             block(wrapper, invoke(namespace, "write_file", path="a", content="x\ny\n")), file("x\ny\n")),
        case(both, f"{wrapper}: breaks around the value do not",
             block(wrapper, invoke(namespace, "write_file", path="\na\n", content="\nx\n\n")), file("x\n")),
        case(both, f"{wrapper}: tags in a value",
             block(wrapper, invoke(namespace, "write_file", path="a", content=f"<b>{end} and </x> & more")),
             file(f"<b>{end} and </x> & more")),
        case(both, f"{wrapper}: quotes in a value",
             block(wrapper, invoke(namespace, "write_file", path="a", content="it's \"so\" `and` 'so'")),
             file("it's \"so\" `and` 'so'")),
    ]  # fmt: skip


def of_broken_invoke(wrapper: str, namespace: str, name: str) -> list[Case]:
    """What may be wrong in them, and what is no call."""
    both, end = f"{name} auto", f"</{namespace}parameter>"
    one = invoke(namespace, city="Oslo")
    return [
        case(both, f"{wrapper}: the value is not closed", block(wrapper, one.replace(end, "")), mended=True),
        case(both, f"{wrapper}: the block is not closed", block(wrapper, one).rpartition("\n")[0]),
        case(both, f"{wrapper}: the call is not closed",
             block(wrapper, one.replace(f"</{namespace}invoke>", "")), mended=True),
        case(both, f"{wrapper}: an end too many", block(wrapper, one.replace(end, end + end)), mended=True),
        case(both, f"{wrapper}: an argument twice",
             block(wrapper, one.replace("</", f'</{namespace}parameter><{namespace}parameter name="city">Rome</', 1)),
             mended=True),
        case(both, f"{wrapper}: an unknown name", block(wrapper, invoke(namespace, "teleport", to="Oslo")),
             [("teleport", {"to": "Oslo"})]),
        case(both, f"{wrapper}: a name that is not ASCII", block(wrapper, invoke(namespace, "wetter_köln", ort="Köln")),
             [("wetter_köln", {"ort": "Köln"})]),
        case(both, f"{wrapper}: JSON between the tags", f"<{wrapper}>{JSON_CALL}</{wrapper}>"),
        case(both, f"{wrapper}: arguments as JSON in the call",
             block(wrapper, f'<{namespace}invoke name="weather">{{"city": "Oslo"}}</{namespace}invoke>')),
        case(both, f"{wrapper}: cut off", f"<{wrapper}>\n{one[:-24 - len(namespace)]}", [],
             text=f"<{wrapper}>\n{one[:-24 - len(namespace)]}", rejected=["weather"]),
        case(both, f"{wrapper}: without the wrapper", f"{one} Done.", text=" Done."),
        case(both, f"{wrapper}: without the wrapper, of no tool", invoke(namespace, "teleport", to="Oslo"), [],
             text=invoke(namespace, "teleport", to="Oslo")),
        case(both, f"{wrapper}: only mentioned", f"Write <{wrapper}> for it.", [], text=f"Write <{wrapper}> for it."),
        case("auto", f"{wrapper}: in a fence, alone", f"```\n{one}\n```", [], text=f"```\n{one}\n```"),
    ]  # fmt: skip


STEP = "<｜tool_call_begin｜>function<｜tool_sep｜>{}<｜tool_call_end｜>"
STEP_BLOCK = "<｜tool_calls_begin｜>\n{}\n<｜tool_calls_end｜>"
STEPTML = invoke("steptml:", city="Oslo")
V31 = '<｜tool▁call▁begin｜>weather<｜tool▁sep｜>{"city": "Oslo"}<｜tool▁call▁end｜>'
ATEM = block("atem:function_calls", invoke("atem:", city="Oslo"))
LONGCAT = (
    "<longcat_tool_call>weather\n<longcat_arg_key>city</longcat_arg_key>\n"
    "<longcat_arg_value>Oslo</longcat_arg_value>\n</longcat_tool_call>"
)
HY_CALL = "<tool_call>weather<tool_sep>\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n</tool_call>"
HY_NOW = "<tool_call>now<tool_sep>\n</tool_call>"
HY = f"<tool_calls>\n{HY_CALL}\n</tool_calls>"
HY4 = HY.replace(">", ":opensource>").replace("<tool_sep:opensource>", "").replace("\n", "")
GCML = (
    '<｜GCML｜tool_calls>\n<｜GCML｜invoke name="weather">\n<｜GCML｜parameter name="city" string="true">Oslo'
    '</｜GCML｜parameter>\n<｜GCML｜parameter name="days" string="false">3</｜GCML｜parameter>\n</｜GCML｜invoke>\n'
    "</｜GCML｜tool_calls>"
)
MINICPM = '<function name="weather"><param name="city">Oslo</param></function>'


def cpm_file(content: str) -> str:
    return f'<function name="write_file"><param name="path">a</param><param name="content">{content}</param></function>'


CASES = [
    case("functionary_v31 auto", "Llama, the tag is not closed", '<function=weather{"city": "Oslo"}</function>'),
    case("functionary_v31 auto", "Llama, a sign instead", '<function=weather={"city": "Oslo"}</function>'),
    case("functionary_v31 auto", "Llama, a space instead", '<function=weather {"city": "Oslo"} </function>'),
    case("functionary_v31 auto", "Llama, of another tool", '<function=other{"city": "Oslo"}</function>', [],
         text='<function=other{"city": "Oslo"}</function>'),
    case("functionary_v31 auto", "Llama, an unclosed tag without an object", "The tag <function=weather opens it.", [],
         text="The tag <function=weather opens it."),
    *(one for row in INVOKES for one in (*of_invoke(*row), *of_broken_invoke(*row))),
    case("step3 auto", "Step, with its marks", STEP_BLOCK.format(STEP.format(STEPTML)), mended=False),
    case("step3 auto", "Step, two",
         STEP_BLOCK.format("\n".join([STEP.format(STEPTML), STEP.format(invoke("steptml:", "now"))])), TWO),
    case("step3 auto", "Step, a break behind the mark", STEP_BLOCK.format(STEP.format("\n" + STEPTML + "\n"))),
    case("step3 auto", "Step, DeepSeek's underscores",
         STEP_BLOCK.format(STEP.format(STEPTML)).replace("tool_calls_", "tool▁calls▁").replace("tool_", "tool▁")
         .replace("call_", "call▁")),
    case("step3 auto", "Step, the keyboard's bars", STEP_BLOCK.format(STEP.format(STEPTML)).replace("｜", "|")),
    case("step3 auto", "Step, the marks are not closed",
         f"<｜tool_calls_begin｜>\n{STEP.format(STEPTML).removesuffix('<｜tool_call_end｜>')}"),
    case("step3 auto", "Step, text around", f"Ok.\n{STEP_BLOCK.format(STEP.format(STEPTML))}\nDone.",
         text="Ok.\n\nDone."),
    case("step3", "Step, a call of DeepSeek between the marks", f"<｜tool▁calls▁begin｜>{V31}<｜tool▁calls▁end｜>"),
    case("step3 auto", "Step, only mentioned", "The <｜tool_calls_begin｜> begins it.", [],
         text="The <｜tool_calls_begin｜> begins it."),
    case("muse_glimmer", "Muse, reasoning and a call",
         f" to=self<|message|>Cold?<|eom|><|start|>assistant to=weather.weather<|message|>{ATEM}<|eom|>",
         thinking="Cold?"),
    case("muse_glimmer auto", "Muse, a message to a tool",
         f"<|start|>assistant to=weather<|message|>{ATEM}<|eom|>", mended=False),
    case("muse_glimmer", "Muse, an answer", "to=user<|message|>It is cold.<|eot|>", [], text="It is cold."),
    case("muse_glimmer", "Muse, an answer without a receiver", "<|message|>It is cold.<|eot|>", [], text="It is cold."),
    case("muse_glimmer", "Muse, tags in an answer are text",
         f"to=user<|message|>So: {ATEM}<|eot|>", [], text=f"So: {ATEM}"),
    case("muse_glimmer", "Muse, tags in reasoning are reasoning",
         f"to=self<|message|>{ATEM}<|eom|><|start|>assistant to=user<|message|>No.<|eot|>", [], text="No.",
         thinking=ATEM),
    case("muse_glimmer", "Muse, plain words", "to=nobody in particular", [], text="to=nobody in particular"),
    case("longcat auto", "LongCat, JSON", f"<longcat_tool_call>\n{JSON_CALL}\n</longcat_tool_call>", mended=False),
    case("longcat auto", "LongCat, tags", LONGCAT, mended=False),
    case("longcat auto", "LongCat, tags on one line", LONGCAT.replace("\n", "")),
    case("longcat auto", "LongCat, two of both kinds",
         f"{LONGCAT}<longcat_tool_call>{JSON_CALL}</longcat_tool_call>", CALL * 2),
    case("longcat auto", "LongCat, a number",
         LONGCAT.replace("</longcat_tool_call>", "<longcat_arg_key>days</longcat_arg_key>"
                         "<longcat_arg_value>3</longcat_arg_value></longcat_tool_call>"), DAYS, mended=False),
    case("longcat auto", "LongCat without arguments", "<longcat_tool_call>now</longcat_tool_call>", [("now", {})]),
    case("longcat auto", "LongCat, not closed", LONGCAT.removesuffix("\n</longcat_tool_call>"), mended=True),
    case("longcat auto", "LongCat, tags in a value", LONGCAT.replace("Oslo", "a </longcat_tool_call> b"),
         [("weather", {"city": "a </longcat_tool_call> b"})]),
    case("longcat auto", "LongCat, text around", f"Ok.\n{LONGCAT}\nDone.", text="Ok.\n\nDone."),
    case("longcat auto", "LongCat, only mentioned", "So <longcat_tool_call> it is.", [],
         text="So <longcat_tool_call> it is."),
    case("longcat auto", "LongCat, cut off", LONGCAT[:90], [], text=LONGCAT[:90], rejected=["weather"]),
    case("longcat", "LongCat, an argument twice",
         LONGCAT.replace("</longcat_tool_call>", "<longcat_arg_key>city</longcat_arg_key>"
                         "<longcat_arg_value>Rome</longcat_arg_value></longcat_tool_call>"), mended=True),
    case("hy_v3 auto", "Hunyuan 3", HY, mended=False),
    case("hy_v3 auto", "Hunyuan 3, on one line", HY.replace("\n", "")),
    case("hy_v3 auto", "Hunyuan 3, two", HY.replace(HY_CALL, f"{HY_CALL}\n{HY_NOW}"), TWO, mended=False),
    case("hy_v3 auto", "Hunyuan 3, without arguments", f"<tool_calls>{HY_NOW}</tool_calls>", [("now", {})],
         mended=False),
    case("hy_v3 auto", "Hunyuan 3, one without the wrapper", HY_CALL),
    case("hy_v3 auto", "Hunyuan 3, the wrapper is not closed", HY.removesuffix("\n</tool_calls>")),
    case("hy_v3 auto", "Hunyuan 3, the call is not closed", HY.replace("</tool_call>\n", ""), mended=True),
    case("hy_v3 auto", "Hunyuan 4, with endings", HY4, mended=False),
    case("hy_v3 auto", "Hunyuan 3, JSON inside", f"<tool_calls><tool_call>{JSON_CALL}</tool_call></tool_calls>"),
    case("hy_v3 auto", "Hunyuan 3, tags, then JSON",
         f"<tool_calls>{HY_CALL}<tool_call>{JSON_CALL}</tool_call></tool_calls>", CALL * 2),
    case("hy_v3 auto", "Hunyuan 3, text around", f"Ok.\n{HY}\nDone.", text="Ok.\n\nDone."),
    case("hy_v3 auto", "Hunyuan 3, only mentioned", "A <tool_calls> mark.", [], text="A <tool_calls> mark."),
    case("auto", "a list of JSON in the same tags", f"<tool_calls>[{JSON_CALL}]</tool_calls>", mended=False),
    case("gigachat3 auto", "GigaChat", f"<|function_call|>{JSON_CALL}<|message_sep|>", mended=False),
    case("gigachat3 auto", "GigaChat, the older mark", f"function call<|role_sep|>\n{JSON_CALL}"),
    case("gigachat3", "GigaChat, words before",
         f"I look.<|message_sep|>\n\nfunction call<|role_sep|>\n{JSON_CALL}<|message_sep|>", text="I look.\n\n"),
    case("gigachat3 auto", "GigaChat, an unknown name",
         '<|function_call|>{"name": "teleport", "arguments": {"to": "Oslo"}}', [("teleport", {"to": "Oslo"})]),
    case("gigachat3 auto", "GigaChat, the mark in a value",
         '<|function_call|>{"name": "write_file", "arguments": {"path": "a", "content": "<|message_sep|> x"}}',
         file("<|message_sep|> x"), mended=False),
    case("gigachat3 auto", "GigaChat, arguments as a text",
         '<|function_call|>{"name": "weather", "arguments": "{\\"city\\": \\"Oslo\\"}"}', mended=True),
    case("gigachat3 auto", "GigaChat, the words `function call`", "A function call is made.", [],
         text="A function call is made."),
    case("gigachat35 auto", "GigaChat 3.5", GCML, DAYS, mended=False),
    case("gigachat35 auto", "GigaChat 3.5, the keyboard's bars", GCML.replace("｜", "|"), DAYS, mended=False),
    case("gigachat35 auto", "GigaChat 3.5, spaces belong to a text", GCML.replace("Oslo", " Oslo\n"),
         [("weather", {"city": " Oslo\n", "days": 3})], mended=False),
    case("minicpm5 auto", "MiniCPM", MINICPM, mended=False),
    case("minicpm5 auto", "MiniCPM, two", f'{MINICPM}\n<function name="now"></function>', TWO, mended=False),
    case("minicpm5 auto", "MiniCPM, CDATA", MINICPM.replace("Oslo", "<![CDATA[Oslo]]>"), mended=False),
    case("minicpm5 auto", "MiniCPM, tags in CDATA", cpm_file("<![CDATA[a </param></function> & ]] b\n]]>"),
         file("a </param></function> & ]] b\n"), mended=False),
    case("minicpm5 auto", "MiniCPM, the end of CDATA in two sections", cpm_file("<![CDATA[x ]]]]><![CDATA[> y]]>"),
         file("x ]]> y"), mended=False),
    case("minicpm5 auto", "MiniCPM, a number in CDATA",
         MINICPM.replace("</function>", '<param name="days"><![CDATA[3]]></param></function>'), DAYS, mended=False),
    case("minicpm5 auto", "MiniCPM, CDATA without the end of its parameter",
         '<function name="weather"><param name="city"><![CDATA[Oslo]]></function>', ),
    case("minicpm5 auto", "MiniCPM, CDATA that never ends", cpm_file("<![CDATA[x"), [], text=cpm_file("<![CDATA[x"),
         rejected=["write_file"]),
    case("minicpm5", "MiniCPM, a break at the end of a value", cpm_file("x\n"), file("x\n"), mended=False),
    case("minicpm5 auto", "MiniCPM, text around", f"Ok.\n{MINICPM}\nDone.", text="Ok.\n\nDone."),
    case("minicpm5 auto", "MiniCPM, of no tool", MINICPM.replace("weather", "teleport"), [],
         text=MINICPM.replace("weather", "teleport")),
    case("qwen3_coder_xml auto", "CDATA in a parameter of Qwen is its text",
         "<tool_call><function=write_file><parameter=path>a</parameter><parameter=content><![CDATA[x]]></parameter>"
         "</function></tool_call>", file("<![CDATA[x]]>"), mended=False),
]  # fmt: skip
