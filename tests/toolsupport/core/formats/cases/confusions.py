"""The syntax of one format between the marks of another, JSON without quotes, and repeated marks."""

from __future__ import annotations

from tests.toolsupport.core.formats.cases.case import Case
from tests.toolsupport.core.formats.cases.dialects import CALL, DAYS, JSON_CALL, case, file

FORMATS: tuple[str, ...] = ()
# All formats with the mark <tool_call>.
MARKED = "hermes qwen3_coder_xml seed_oss glm45 hy_v3 granite xlam minicpm5 auto"
TAGS = "<function=weather>\n<parameter=city>\nOslo\n</parameter>\n</function>"
PAIRS = "weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>"
BODIES = {"JSON": JSON_CALL, "Qwen's tags": TAGS, "GLM's pairs": PAIRS, "a name alone": "now"}
OTHER_BODIES = {
    "a name above JSON": 'weather\n{"city": "Oslo"}',
    "a name before JSON": 'weather {"city": "Oslo"}',
    "Python": 'weather(city="Oslo")',
    "a name in a tag": '<function>weather</function>\n{"city": "Oslo"}',
    "Claude's tags": '<invoke name="weather">\n<parameter name="city">Oslo</parameter>\n</invoke>',
}
BARE = "pure_json llama3_json xlam auto"
FINAL = "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>"
KIMI = '<|tool_call_begin|>functions.weather:0<|tool_call_argument_begin|>{"city":"Oslo"}'
WORD = "<tool_call>JSON</tool_call>"
HERMES = f"<tool_call>\n{JSON_CALL}\n</tool_call>"
ATEM = '<atem:invoke name="weather"><atem:parameter name="city">Oslo</atem:parameter></atem:invoke>'


def of_body(name: str, body: str, marked: str = MARKED) -> list[Case]:
    calls, twice = [("now", {})] if body == "now" else CALL, f"<tool_call>{body}</tool_call>\n" * 2
    return [
        case(marked, f"{name} behind <tool_call>", f"<tool_call>\n{body}\n</tool_call>", calls),
        case(marked, f"{name} behind <tool_call>, twice", twice, calls * 2, text="\n\n"),
        case(
            marked,
            f"{name} behind <tool_call>, a mention",
            f"It is `<tool_call>{body}</tool_call>` there.",
            [],
            text=f"It is `<tool_call>{body}</tool_call>` there.",
        ),
    ]


def unquoted() -> list[Case]:
    """JSON whose keys or names stand without quotes, or in other quotes."""
    calls = {
        "keys without quotes": '{name: "weather", arguments: {city: "Oslo"}}',
        "keys without quotes, single ones for texts": "{name: 'weather', parameters: {city: 'Oslo'}}",
        "single quotes": "{'name': 'weather', 'arguments': {'city': 'Oslo'}}",
        "nothing in quotes": "{name: weather, arguments: {city: Oslo}}",
        "curly quotes": "{“name”: “weather”, “arguments”: {“city”: “Oslo”}}",
        "keys without quotes on lines": '{\n  name: "weather",\n  arguments: {\n    city: "Oslo",\n  },\n}',
        "space before the colon": '{ name : "weather" , arguments : { city : "Oslo" } }',
        "another key first": '{type: "function", name: "weather", parameters: {city: "Oslo"}}',
    }
    prose = (
        "{name} is a variable.",
        "{name: string} is its type.",
        '{name: "Ada", age: 36}',
        "{name: Ada Lovelace, arguments: none}",
        "{so it is: as it is}",
        "{arguments: [weather]}",
        "Use {function: f} here",
    )
    return [
        *(case(BARE, f"JSON, {what}", written, mended=True) for what, written in calls.items()),
        *(case(BARE, f"a list of JSON, {what}", f"[{written}]", mended=True) for what, written in calls.items()),
        *(
            case("pure_json llama3_json xlam", f"JSON in a fence, {what}", f"```json\n{written}\n```", mended=True)
            for what, written in calls.items()
        ),
        *(case(BARE, f"no JSON: {text}", text, [], text=text) for text in prose),
    ]


def doubled() -> list[Case]:
    """A closing mark that stands twice, at once or on the next line; and an opening one where it belongs."""
    seed = "<seed:tool_call>\n<function=weather>\n<parameter=city>Oslo</parameter>\n</function>\n"
    wrapped = {
        "hermes auto": f"<tool_call>{JSON_CALL}</tool_call>",
        "qwen3_coder_xml hermes auto": f"<tool_call>{TAGS}</tool_call>",
        "glm45 auto": f"<tool_call>{PAIRS}</tool_call>",
        "seed_oss auto": f"{seed}</seed:tool_call>",
        "nemotron_toolcall auto": f"<TOOLCALL>[{JSON_CALL}]</TOOLCALL>",
        "jamba auto": f"<tool_calls>[{JSON_CALL}]</tool_calls>",
        "mistral auto": f"[TOOL_CALLS][{JSON_CALL}][/TOOL_CALLS]",
        "gemma4 auto": '<|tool_call>call:weather{city:<|"|>Oslo<|"|>}<tool_call|>',
        "kimi_k2 auto": f"{KIMI}<|tool_call_end|>",
        "harmony auto": '<|channel|>commentary to=functions.weather<|message|>{"city":"Oslo"}<|call|>',
        "functionary_v31": '<function=weather>{"city":"Oslo"}</function>',
        "invoke auto": f"<function_calls>{ATEM.replace('atem:', '')}</function_calls>",
        "muse_glimmer auto": ATEM,
        "llama4_pythonic auto": "<|python_start|>[weather(city='Oslo')]<|python_end|>",
        "olmo3_pythonic auto": "<function_calls>weather(city='Oslo')</function_calls>",
    }
    cases = []
    for formats, written in wrapped.items():
        end = written[max(written.rfind(sign) for sign in ("<", "[/")) :]
        for between in ("", "\n", "\n\n"):
            cases.append(case(formats, f"{end} twice, {between!r} between", f"{written}{between}{end}"))
            cases.append(
                case(formats, f"{end} thrice, {between!r}", f"{written}{between}{end}{end}\nHm.", text="\nHm.")
            )
    for formats in ("hermes auto", "xlam"):
        cases.append(case(formats, "an opening mark at the end", f"<tool_call>{JSON_CALL}\n<tool_call>"))
    return cases


def of_habits() -> list[Case]:
    """What models write by habit: ReAct's lines and tags named like the tool."""
    react = 'Action: weather\nAction Input: {"city": "Oslo"}'
    tags = "<weather>\n<city>Oslo</city>\n<days>3</days>\n</weather>"
    code = "<write_file>\n<path>a</path>\n<content>\nif a < b:\n  <b>x</b>\n</content>\n</write_file>"
    return [
        case("react auto", "ReAct", react, mended=False),
        case("react auto", "ReAct with its thought", f"Thought: I look.\n{react}", text="Thought: I look.\n"),
        case("react auto", "ReAct, and a made-up result", f"{react}\nObservation: 3", text="\nObservation: 3"),
        case("react auto", "ReAct twice", f"{react}\n{react}", CALL * 2, text="\n"),
        case("react auto", "ReAct in bold", react.replace("Action:", "**Action:**").replace("Input:", "Input:")),
        case("react auto", "ReAct with plain text", "Action: run-sql\nAction Input: select 1\n",
             [("run-sql", {"statement": "select 1"})], text="\n", mended=True),
        case("react auto", "ReAct with a fence", 'Action: weather\nAction Input:\n```json\n{"city": "Oslo"}\n```'),
        case("react auto", "ReAct of no tool", "Action: teleport\nAction Input: {}", [],
             text="Action: teleport\nAction Input: {}"),
        case("react auto", "ReAct, quoted", f"> {react}".replace("\n", "\n> "), [],
             text=f"> {react}".replace("\n", "\n> ")),
        case("react auto", "ReAct as an example", f"For example:\n{react}", [], text=f"For example:\n{react}"),
        case("tool_tags auto", "tags of a tool", tags, DAYS, mended=False),
        case("tool_tags auto", "tags of a tool, text around", f"I look.\n{tags}\n", DAYS, text="I look.\n\n"),
        case("tool_tags auto", "tags of a tool twice", f"{tags}\n{tags}", DAYS * 2, text="\n"),
        case("tool_tags auto", "tags of a tool, tags in a value", code, file("if a < b:\n  <b>x</b>")),
        case("tool_tags auto", "tags without arguments", "<now></now>", [("now", {})]),
        case("tool_tags auto", "an empty tag", "<now/>", [("now", {})]),
        case("tool_tags auto", "tags of a tool, mentioned", "Use <weather> for the weather.", [],
             text="Use <weather> for the weather."),
        case("tool_tags auto", "tags of a tool, quoted", f"Write `{tags}` so.", [], text=f"Write `{tags}` so."),
        case("tool_tags auto", "tags of no tool", "<teleport><to>Oslo</to></teleport>", [],
             text="<teleport><to>Oslo</to></teleport>"),
        case("tool_tags auto", "HTML in the tag of a tool", "<note>Be careful.</note>", [],
             text="<note>Be careful.</note>"),
    ]  # fmt: skip


def of_prints() -> list[Case]:
    """Gemma and Gemini print what a call gives back."""
    printed = '```tool_code\nprint(default_api.weather(city="Oslo"))\n```'
    python = "pythonic tool_code_python auto"
    return [
        case(python, "printed in a fence", printed, [("default_api.weather", {"city": "Oslo"})]),
        case("auto", "printed", 'print(weather(city="Oslo"))'),
        case(python, "two printed in a fence", "```tool_code\nprint(now())\nprint(now())\n```", [("now", {})] * 2),
        case(python, "printed, a mention", f"For example:\n{printed}", [], text=f"For example:\n{printed}"),
        case(python, "printed in a fence, then prose", f"{printed}\nThat is how.", [],
             text=f"{printed}\nThat is how."),
        case(python, "something else printed", 'print("weather(city=1)")', [], text='print("weather(city=1)")'),
    ]  # fmt: skip


def of_definitions() -> list[Case]:
    """Tools that are listed as they were offered: these are no calls."""
    flat = '{"name": "now", "parameters": {"type": "object", "properties": {}}}'
    described = flat.replace('"now",', '"now", "description": "The time.",')
    nested = f'{{"type": "function", "function": {described}}}'
    full = nested.replace('"properties": {}', '"properties": {"city": {"type": "string"}}, "required": ["city"]')
    return [
        case(BARE, f"{what}, {where}", text, [], text=text)
        for what, written in {"flat": flat, "described": described, "nested": nested, "full": full}.items()
        for where, text in {
            "alone": written,
            "below words": f"My tools:\n{written}\n{full}\n",
            "in a list": f"[{written}, {full}]",
        }.items()
    ]


CASES = [
    *of_definitions(),
    *of_habits(),
    *of_prints(),
    *(one for name, body in BODIES.items() for one in of_body(name, body)),
    *(one for name, body in OTHER_BODIES.items() for one in of_body(name, body, MARKED.replace("hy_v3 ", ""))),
    case("hermes glm45 auto", "a name and no JSON", "Use <tool_call>weather {city}</tool_call>.", [],
         text="Use <tool_call>weather {city}</tool_call>."),
    case("hermes glm45 auto", "a name and dots", "Use <tool_call>weather(...)</tool_call>.", [],
         text="Use <tool_call>weather(...)</tool_call>."),
    case("hermes auto", "a word between the marks", WORD, [], text=WORD),
    *unquoted(),
    *doubled(),
    case("auto", "a call in harmony's last message", f"{FINAL}{HERMES}", thinking="hm"),
    case("auto", "JSON in harmony's last message", f"{FINAL}{JSON_CALL}<|return|>", thinking="hm"),
    case("auto", "a call on a line in it", f'{FINAL}weather(city="Oslo", days=3)\n<|return|>', DAYS, text="\n"),
    case("muse_glimmer auto", "tags in harmony's last message", f"{FINAL}{ATEM}<|eot|>", thinking="hm"),
    case("auto", "words and a call in it", f"{FINAL}I look.\n{HERMES}\n<|return|>", text="I look.\n\n"),
    case("auto", "a mention in it", f"{FINAL}So: `{HERMES}`.<|return|>", [], text=f"So: `{HERMES}`."),
    *(case("harmony auto", f"a name glued to its kind, {head}", f'{head}weatherjson<|message|>{{"city":"Oslo"}}')
      for head in ("<|channel|>commentary to=functions.", "<|start|>assistant to=functions.", "to=functions.")),
    case("harmony auto", "an end mark without a message", "It is `<|end|>` there.", [], text="It is `<|end|>` there."),
]  # fmt: skip
