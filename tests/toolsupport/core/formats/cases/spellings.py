"""Other spellings of known formats: marks written differently, parts left out, things repeated or in another place."""

from __future__ import annotations

from tests.toolsupport.core.formats.cases.case import Case
from tests.toolsupport.core.formats.cases.dialects import CALL, DAYS, JSON_CALL, TWO, case, file
from tests.toolsupport.core.formats.cases.seldom import BEGIN, CITY, DSML, END, HARMONY, MARK, V3, V31
from toolsupport.core.types import JSON

FORMATS: tuple[str, ...] = ()
BARE_CALL = 'commentary to=functions.weather json{"city": "Oslo"}'
BARE_THOUGHT = "analysisHm."
M3_CALL = f'{MARK}<invoke name="{{}}">{{}}{MARK}</invoke>'


def seed(path: str, content: str) -> str:
    return (
        f"<seed:tool_call>\n<function=write_file>\n<parameter=path>{path}</parameter>\n"
        f"<parameter=content>{content}</parameter>\n</function>\n</seed:tool_call>"
    )


def m3(name: str, *tags: tuple[str, str]) -> str:
    return M3_CALL.format(name, "".join(f"{MARK}<{key}>{value}{MARK}</{key}>" for key, value in tags))


def gemma(inside: str) -> str:
    return f"<|tool_call>{inside}<tool_call|>"


def bars(mark: str, bar: str, line: str) -> str:
    return mark.replace("｜", bar).replace("▁", line)


def deepseek(bar: str, line: str) -> list[Case]:
    """DeepSeek's marks with these signs."""
    signs = f"{bar} and {line}"
    return [
        case("deepseek_v3 auto", f"DeepSeek V3 with {signs}", bars(f"{BEGIN}{V3}{END}", bar, line), mended=False),
        case("deepseek_v31 auto", f"DeepSeek V3.1 with {signs}", bars(f"{BEGIN}{V31}{V31}{END}", bar, line), CALL * 2),
        case("deepseek_v31 auto", f"DeepSeek without its block, with {signs}", bars(V31, bar, line)),
        case(
            "deepseek_dsml auto",
            f"DSML with {signs}",
            bars(f"<｜DSML｜tool_calls>\n{DSML.format(CITY)}\n</｜DSML｜tool_calls>", bar, line),
            mended=False,
        ),
    ]


TAGS: JSON = {"tags": ["a", "b"]}
CASES = [
    case(
        "invoke minimax_m2 dots auto",
        "tags that end themselves",
        '<function_calls><invoke name="now"/><invoke name="now" /></function_calls>',
        [("now", {})] * 2,
        mended=False,
    ),
    case(
        "invoke auto",
        "an argument that ends itself is empty",
        '<invoke name="write_file"><parameter name="path">a</parameter><parameter name="content"/></invoke>',
        file(""),
    ),
    case(
        "qwen3_coder_xml auto",
        "Qwen, a tag that ends itself",
        "<tool_call>\n<function=now/>\n</tool_call>",
        [("now", {})],
    ),
    case("seed_oss auto", "Seed, the last break belongs to the value", seed("a", "x\ny\n"), file("x\ny\n")),
    case("seed_oss auto", "Seed, breaks of Windows", seed("a", "x\r\ny\r\n"), file("x\r\ny\r\n")),
    case("seed_oss auto", "Seed in the manner of Qwen", seed("\na\n", "\nx\n\n"), file("x\n")),
    case("seed_oss auto", "Seed, a break is the value", seed("a", "\n\n\n"), file("\n")),
    case("seed_oss auto", "Seed, an empty value", seed("a", ""), file("")),
    case("seed_oss auto", "Seed, several breaks", seed("a", "x\n\n\n"), file("x\n\n\n")),
    case("seed_oss auto", "Seed, an end twice", seed("a", "x</parameter>"), file("x"), mended=True),
    case(
        "seed_oss auto",
        "Seed, an element of the same name in the value",
        seed("a", "<parameter>x</parameter>"),
        file("<parameter>x</parameter>"),
        mended=False,
    ),
    case(
        "qwen3_coder_xml auto",
        "Qwen, an end twice",
        "<tool_call>\n<function=weather>\n<parameter=city>\nOslo\n</parameter>\n</parameter>\n</function>\n</tool_call>",
        mended=True,
    ),
    case(
        "minimax_m3 auto", "M3, a tag twice is a list", m3("search", ("tags", "a"), ("tags", "b")), [("search", TAGS)]
    ),
    case(
        "minimax_m3 auto",
        "M3, a list and another argument",
        m3("search", ("tags", "a"), ("tags", "b"), ("query", "q")),
        [("search", {**TAGS, "query": "q"})],
    ),
    case(
        "minimax_m3 auto",
        "M3, a text twice",
        m3("search", ("query", "a"), ("query", "b")),
        [("search", {"query": "a"})],
        mended=True,
    ),
    case(
        "minimax_m3 auto",
        "M3, a number twice",
        m3("weather", ("city", "Oslo"), ("days", "3"), ("days", "4")),
        DAYS,
        mended=True,
    ),
    case(
        "minimax_m3 auto",
        "M3, a list with something between",
        m3("search", ("tags", "a"), ("query", "q"), ("tags", "b")),
        [("search", {"tags": ["a"], "query": "q"})],
        mended=True,
    ),
    case(
        "minimax_m3 auto",
        "M3, tags twice in an object",
        m3("search", ("filters", f"{MARK}<a>1{MARK}</a>{MARK}<b>2{MARK}</b>{MARK}<a>3{MARK}</a>")),
        [("search", {"filters": {"a": ["1", "3"], "b": "2"}})],
    ),
    case(
        "minimax_m3 auto",
        "M3, items in a list",
        m3("search", ("tags", f"{MARK}<i>a{MARK}</i>{MARK}<i>b{MARK}</i>")),
        [("search", TAGS)],
        mended=False,
    ),
    case(
        "minimax_m3 auto", "M3, a list as JSON", m3("search", ("tags", '["a", "b"]')), [("search", TAGS)], mended=False
    ),
    case(
        "harmony auto",
        "Harmony, the receiver before the channel",
        "<|start|>assistant to=functions.weather<|channel|>commentary <|constrain|>json"
        '<|message|>{"city": "Oslo"}<|call|>',
        mended=False,
    ),
    case(
        "harmony auto",
        "Harmony, the receiver first, begun by the prompt",
        ' to=functions.weather<|channel|>commentary <|constrain|>json<|message|>{"city": "Oslo"}<|call|>',
    ),
    case(
        "harmony auto",
        "Harmony, the role and the receiver, begun by the prompt",
        'assistant to=functions.weather<|channel|>commentary<|message|>{"city": "Oslo"}<|call|>',
    ),
    case(
        "harmony auto",
        "Harmony, a receiver and no channel",
        '<|start|>assistant to=functions.weather<|message|>{"city": "Oslo"}<|call|>',
    ),
    case("harmony auto", "Harmony, a call in analysis", HARMONY.replace("commentary", "analysis")),
    case(
        "harmony auto",
        "Harmony, two with the receiver first",
        "".join(
            f'<|start|>assistant to=functions.weather<|channel|>commentary<|message|>{{"city": "{city}"}}<|call|>'
            for city in ("Oslo", "Rome")
        ),
        [*CALL, ("weather", {"city": "Rome"})],
    ),
    case(
        "harmony auto",
        "Harmony, the words of a receiver",
        "It says to=functions.weather in there.",
        [],
        text="It says to=functions.weather in there.",
    ),
    *(
        case("harmony auto", f"Harmony without special tokens, {name}", f"{reply}", calls, text=text, thinking=thinking)
        for name, reply, calls, text, thinking in (
            ("reasoning first", f"{BARE_THOUGHT}assistant{BARE_CALL}", CALL, "", "Hm."),
            ("a call alone", BARE_CALL, CALL, "", None),
            ("glued to the channel", BARE_CALL.replace(" json", "commentary json"), CALL, "", None),
            ("glued to the kind", BARE_CALL.replace(" json", "json"), CALL, "", None),
            ("the receiver first", BARE_CALL.replace("commentary to=", "assistant to="), CALL, "", None),
            (
                "words before",
                f"{BARE_THOUGHT}assistantcommentaryOne moment.assistant{BARE_CALL}",
                CALL,
                "One moment.",
                "Hm.",
            ),
            ("words after it", f"{BARE_CALL}assistantfinalHi.", CALL, "Hi.", None),
            ("another tool", BARE_CALL.replace("weather", "other"), [], BARE_CALL.replace("weather", "other"), None),
            ("in quotes", f'"{BARE_CALL}" is one.', [], f'"{BARE_CALL}" is one.', None),
        )
    ),
    case("gemma4 auto", "Gemma 4 without the word", gemma('weather{city:<|"|>Oslo<|"|>}'), mended=False),
    case(
        "gemma4 auto",
        "Gemma 4 without the word, twice",
        gemma('weather{city:<|"|>Oslo<|"|>}') + gemma("now{}"),
        TWO,
        mended=False,
    ),
    case("gemma4 auto", "Gemma 4, a space behind the word", gemma('call: weather{city:<|"|>Oslo<|"|>}')),
    case("gemma4 auto", "Gemma 4, JSON between the marks", gemma(JSON_CALL)),
    case("gemma4 auto", "Gemma 4, keys in quotes", gemma('call:weather{ "city": "Oslo", "days" : 3 }'), DAYS),
    case("gemma4 auto", "Gemma 4, a key in quotes", gemma('weather{"city":<|"|>Oslo<|"|>}')),
    case("gemma4", "Gemma 4, a text in quotes last", gemma('call:write_file{path:<|"|>a<|"|>,content:"x"}'), file("x")),
    case("gemma4 auto", "Gemma 4, a brace is missing", gemma('call:weather{city:<|"|>Oslo<|"|>'), mended=True),
    case(
        "gemma4 auto",
        "Gemma 4, a bracket is missing",
        gemma('call:search{tags:[<|"|>a<|"|>,<|"|>b<|"|>}'),
        [("search", TAGS)],
        mended=True,
    ),
    case("gemma4 auto", "Gemma 4, a comma at the end", gemma('call:weather{city:<|"|>Oslo<|"|>,}'), mended=True),
    case(
        "gemma4 auto",
        "Gemma 4, marks of structure in a text",
        gemma('call:write_file{path:<|"|>a<|"|>,content:<|"|>{x: [1, 2}, "y": \\n<|"|>}'),
        file('{x: [1, 2}, "y": \\n'),
    ),
    case(
        "gemma4 auto",
        "Gemma 4, the closing mark in a text",
        gemma('call:write_file{path:<|"|>a<|"|>,content:<|"|><tool_call|><|"|>}'),
        file("<tool_call|>"),
    ),
    case(
        "gemma4 auto",
        "Gemma 4, breaks between the parts",
        gemma('call:weather{\n  city: <|"|>Oslo<|"|>,\n  days: 3\n}'),
        DAYS,
    ),
    case(
        "gemma4 auto",
        "Gemma 4, words about the mark",
        "The <|tool_call> mark {so} begins it.",
        [],
        text="The <|tool_call> mark {so} begins it.",
    ),
    case(
        "mistral mistral_json auto",
        "Mistral, words in front of the list",
        f"[TOOL_CALLS] Sure, here: [{JSON_CALL}]",
        mended=True,
    ),
    case(
        "mistral mistral_json auto",
        "Mistral, words on a line in front",
        f"Ok.\n[TOOL_CALLS]\nI call it now:\n[{JSON_CALL}]",
        text="Ok.\n",
        mended=True,
    ),
    case("mistral auto", "Mistral, words without a colon", f"[TOOL_CALLS] Sure [{JSON_CALL}]", mended=True),
    case(
        "mistral auto",
        "Mistral, the mark in a sentence with a list",
        f"The mark [TOOL_CALLS] goes before: [{JSON_CALL}].",
        [],
        text=f"The mark [TOOL_CALLS] goes before: [{JSON_CALL}].",
    ),
    case("mistral mistral_args auto", "Mistral, a name alone", "[TOOL_CALLS]now", [("now", {})], mended=True),
    case(
        "mistral mistral_args auto",
        "Mistral, a name alone on its line",
        "[TOOL_CALLS]now\nI wait.",
        [("now", {})],
        text="\nI wait.",
        mended=True,
    ),
    case(
        "mistral mistral_args auto",
        "Mistral, two names",
        "[TOOL_CALLS]now[TOOL_CALLS]now[/TOOL_CALLS]",
        [("now", {})] * 2,
        mended=True,
    ),
    case(
        "mistral mistral_args auto", "Mistral, a name and [ARGS]", "[TOOL_CALLS]now[ARGS]", [("now", {})], mended=True
    ),
    case(
        "mistral mistral_args auto",
        "Mistral, the name of no tool",
        "[TOOL_CALLS]nothing",
        [],
        text="[TOOL_CALLS]nothing",
    ),
    case(
        "mistral mistral_args auto",
        "Mistral, a word behind the mark",
        "[TOOL_CALLS]now is a word.",
        [],
        text="[TOOL_CALLS]now is a word.",
    ),
    case(
        "mistral mistral_args auto", "Mistral, the arguments on the next line", '[TOOL_CALLS]weather\n{"city": "Oslo"}'
    ),
    *(one for bar in "｜|" for line in "▁_" for one in deepseek(bar, line)),
    case("llama3_json", "a tool of Llama", '<|python_tag|>weather.call(city="Oslo", days=3)', DAYS, mended=False),
    case(
        "llama3_json",
        "a tool of Llama, brackets in a text",
        '<|python_tag|>weather.call(city="Os(lo")',
        [("weather", {"city": "Os(lo"})],
        mended=False,
    ),
    case(
        "llama3_json",
        "a tool of Llama, cut off",
        '<|python_tag|>weather.call(city="Os',
        [],
        text='<|python_tag|>weather.call(city="Os',
        rejected=["weather"],
    ),
    case(
        "apertus auto",
        "Apertus, two in two lists",
        '<|tools_prefix|>[{"weather": {"city": "Oslo"}}]<|tools_suffix|><|tools_prefix|>[{"now": {}}]<|tools_suffix|>',
        TWO,
        mended=False,
    ),
    case("apertus", "Apertus in the way of others", f"<|tools_prefix|>[{JSON_CALL}]<|tools_suffix|>", mended=False),
    case(
        "phi4_mini",
        "Phi, its mark in a value",
        'functools[{"name": "write_file", "arguments": {"path": "a", "content": "import functools[x] "}}]',
        file("import functools[x] "),
        mended=False,
    ),
    case(
        "command_r_plus",
        "Command R+, a fence in a value",
        'Action: ```json\n[{"tool_name": "write_file", '
        '"parameters": {"path": "a", "content": "```\\nAction: x\\n```"}}]\n```',
        file("```\nAction: x\n```"),
        mended=False,
    ),
    case(
        "functionary_v32",
        "Functionary, its mark in a value",
        '>>>write_file\n{"path": "a", "content": ">>> x\\n>>>now"}',
        file(">>> x\n>>>now"),
        mended=False,
    ),
    case(
        "tool_code_python",
        "a fence of Gemma in which something stands behind a call",
        '```tool_code\nweather(city="Oslo").temperature\n```',
        [],
        text='```tool_code\nweather(city="Oslo").temperature\n```',
    ),
]
