"""The same tool, `read_file(path, limit)`, described in many ways."""

from __future__ import annotations

import json

SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string", "description": "where it is"}, "limit": {"type": "integer"}},
    "required": ["path"],
}
TOOL = {"name": "read_file", "description": "Read a text file.", "parameters": SCHEMA}
FUNCTION = {"type": "function", "function": TOOL}

WAYS = {
    "hermes": f"# Tools\n<tools>\n{json.dumps(FUNCTION)}\n</tools>\nFor each call, return:\n<tool_call>\n"
    '{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>\n'
    'Proven: <tool_call>\n{"name": "write_file", "arguments": {"path": "a.txt"}}\n</tool_call>',
    "mistral": f"[AVAILABLE_TOOLS]{json.dumps([FUNCTION])}[/AVAILABLE_TOOLS]\n"
    'Answer with [TOOL_CALLS][{"name": "x", "arguments": {"a": 1}}]',
    "pretty": f"You can use:\n{json.dumps([TOOL], indent=4)}\n"
    'Respond as {"name": function name, "parameters": dictionary}, like {"name": "f", "parameters": {"path": "x"}}.',
    "json lines": f"{json.dumps(TOOL)}\n",
    "anthropic": json.dumps({"name": "read_file", "description": "Reads.", "input_schema": SCHEMA}),
    "a type for each name": '{"name": "read_file", "description": "Read", "arguments": {"path": "string", '
    '"limit": {"type": "integer"}}}'.replace('"string"', '{"type": "string"}'),
    "schema below a heading": f"## read_file\nReads a text file.\n\nParameters: {json.dumps(SCHEMA)}\n",
    "schema in a list": f"- `read_file`: Reads a file. Arguments (JSON schema): {json.dumps(SCHEMA)}",
    "python": 'def read_file(path: str, limit: int = 10) -> str:\n    """Read a file.\n\n    path: where\n    """\n'
    'Write calls so: [read_file(path="a.txt")] or [func(a=1), other(b="x")]',
    "python over lines": "async def read_file(\n    path: str,  # where\n    limit: Optional[int] = None,\n) -> str",
    "signature in a list": '- read_file(path: string, limit?: integer) - Read a file, as in write_file(path="x")',
    "schemas below a signature": "Functions:\n- read_file(path, limit=…): Read a file.\nIn {braces}.\n"
    '    path: {"type": "string"}\n'
    '    limit: {"type": "integer", "default": {"properties": {}}}\n\nLike this:\n[first(text="its value"), second()]\n'
    '<function_calls>\nfirst(text="its value")\nsecond()\n</function_calls>\n```python\nprint(6 * 7)\n```',
    "schemas below, nothing said": '- read_file(path, limit=…)\n    path: {"type": "string"}\n'
    '    limit: {"type": "integer"}',
    "signature in backticks": "1. `read_file(path: str, limit: int | None)`: Read a text file.",
    "typescript": "namespace functions {\n// Read a file.\ntype read_file = (_: {\n// where\npath: string,\n"
    "limit?: integer, // default: 10\n}) => any;\n}",
    "tags": "<tools>\n<function>\n<name>read_file</name>\n<description>Read a file.</description>\n<parameters>\n"
    "<parameter>\n<name>path</name>\n<type>string</type>\n</parameter>\n"
    "<parameter>\n<name>limit</name>\n<type>integer</type>\n</parameter>\n"
    '<required>["path"]</required>\n</parameters>\n</function>\n</tools>\n<tool_call>\n<function=example_function>\n'
    "<parameter=example_parameter>\nvalue\n</parameter>\n</function>\n</tool_call>",
    "attributes": '<tool name="read_file" description="Read a file."><param name="path" type="string" required="true">'
    'where</param><param name="limit" type="integer"/></tool>',
    "schema in a tag": f"<tool><name>read_file</name><parameters>{json.dumps(SCHEMA)}</parameters></tool>",
    "markdown": "### read_file\nRead a text file.\n\nParameters:\n- path (string, required): where it is\n"
    "- `limit` (integer, optional): how much\n\n## How to call\nWrite it down.",
    "nested list": "- **read_file**: Read a file.\n    - path: string, where it is\n    - limit: integer (optional)\n",
}
