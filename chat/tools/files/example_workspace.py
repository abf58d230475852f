"""Creates the example files in the workspace of a new conversation."""

from __future__ import annotations

from chat.tools.files.workspace import Workspace

FILES = {
    "README.md": """# Tea house

A small example to try the tools on. Ask, for instance:

- What is in this folder?
- Which version does config.json name?
- Which tea sold best, by data.csv?

Delete it or add files of your own whenever you like.
""",
    "config.json": """{
  "name": "tea-house",
  "version": "2.4.1",
  "language": "en",
  "currency": "EUR",
  "opening_hours": {"from": "08:30", "to": "18:00"},
  "features": ["orders", "loyalty-card"]
}
""",
    "notes.md": """# Notes

- The new kettle arrives on Thursday.
- Ask Mina about the price of jasmine tea.
- Idea: a free cup for every tenth order.
""",
    "data.csv": """month,tea,cups,revenue
January,green,412,1236.00
January,black,380,1064.00
January,jasmine,95,380.00
February,green,398,1194.00
February,black,421,1178.80
February,jasmine,132,528.00
March,green,455,1365.00
March,black,402,1125.60
March,jasmine,168,672.00
""",
    "src/app.py": '''"""Counts the cups of a day."""


def total(orders: list[dict[str, int]]) -> int:
    return sum(order["cups"] for order in orders)


if __name__ == "__main__":
    print(total([{"cups": 2}, {"cups": 3}]))
''',
}


def fill(workspace: Workspace) -> None:
    """Write the example files; blocks on the disk."""
    for path, content in FILES.items():
        workspace.write(path, (content.encode(),))
