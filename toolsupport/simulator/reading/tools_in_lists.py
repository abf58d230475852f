"""Finds tools that a text describes in Markdown lists, one parameter per line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolsupport.simulator.reading import parameter_types
from toolsupport.simulator.reading.parameter_types import Parameter
from toolsupport.simulator.types import OfferedTool

KINDS = "|".join(parameter_types.MEANT)
# `- path (string, required): where it is`, `* limit: integer, optional`.
LINE = re.compile(
    r"[ \t]*[-*•+][ \t]*[`*\"]*(?P<name>[A-Za-z_]\w*)[`*\"]*[ \t]*[(:][ \t]*[`*]*"
    rf"(?P<type>(?:{KINDS})\b(?:\[\w*\])?)(?P<rest>.*)",
    re.IGNORECASE,
)
# `### read_file`, `- **read_file**: Reads a file.`, `Tool: read_file`, `2. read_file - Reads a file.`
TITLE = re.compile(
    r"[ \t]*(?:[-*•#]+|\d+[.)])?[ \t]*(?:(?:tool|function|name)\b(?:[ \t]name)?[ \t]*:?[ \t]*)?[`*\"]*"
    r"(?P<name>[A-Za-z_]\w*(?:[.:/-]\w+)*)[`*\"]*[ \t]*(?:$|(?::|-|–|—)[ \t]*(?P<about>.*))",
    re.IGNORECASE,
)
WORDS = {"parameters", "arguments", "args", "inputs", "input", "returns", "description", "example", "tools", "required"}


def tools(text: str) -> Iterator[OfferedTool]:
    """Return every title that is followed by lines of parameters."""
    title, about, parameters = "", "", list[Parameter]()
    for line in [*text.splitlines(), "# end"]:
        parameter, heading = LINE.fullmatch(line), TITLE.fullmatch(line)
        if parameter and title:
            parameters.append(_parameter(parameter))
        elif heading and heading["name"].lower() not in WORDS:
            if parameters:
                yield OfferedTool(title, about, parameter_types.of_parameters(parameters))
            title, about, parameters = heading["name"], heading["about"] or "", []
        elif line.strip() and title and not parameters:
            about = about or line.strip()


def _parameter(match: re.Match[str]) -> Parameter:
    optional = re.search(r"\boptional\b|\bdefault", match["rest"], re.IGNORECASE)
    return Parameter(match["name"], parameter_types.of_type(match["type"]), not optional)
