"""The fixed texts of the simulated models."""

from __future__ import annotations

ABOUT = """I am a **simulated model**: a small program that answers by rules, for trying out tool calls. \
I do not understand language. These requests work:

- *What's in this folder?* – lists files with a tool
- *Read config.json and tell me the version* – reads a file and looks something up in it
- *Write hello to notes.md*, *Remember that tea is at four* – if such tools are offered
- *Sum column cups of data.csv with Python*, *Run `ls`* – if an administrator has switched these tools on
- *How many orders per month?* – queries the example database
- *What time is it in Tokyo?* – if an MCP server can tell the time
- *What is 17\\*23?* – arithmetic
- *Show me a table*, *Write some Python code*, *A long answer, please* – fixed examples
"""

GREETING = "Hello! I am a simulated model that works by rules. Ask me *What's in this folder?* to see a tool call."
THANKS = "You are welcome."
UNKNOWN = "I cannot answer that: I have no rule for it.\n\n" + ABOUT

TABLE = """## Planets, by distance from the sun

| Planet  | Diameter (km) | Moons | Rings |
|---------|--------------:|------:|:-----:|
| Mercury |         4,879 |     0 |  no   |
| Venus   |        12,104 |     0 |  no   |
| Earth   |        12,742 |     1 |  no   |
| Mars    |         6,779 |     2 |  no   |

A fixed example, simulated.
"""

CODE = """A fixed example in Python:

```python
def fibonacci(count: int) -> list[int]:
    numbers = [0, 1]
    while len(numbers) < count:
        numbers.append(numbers[-1] + numbers[-2])
    return numbers[:count]


print(fibonacci(10))  # [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]
```

Every number is the sum of the two before it.
"""

LONG = """# How a tool call travels

This is a long answer of a simulated model. It is always the same, and it is long so that a reader can see how \
text arrives, how a page scrolls, and what happens when it is stopped halfway.

## Asking

A program sends a conversation to a model server together with a list of tools. Each tool has a name, a sentence \
about what it does, and a schema of its parameters. The server writes all of this into one long text, in the form \
that the model was trained on, and the model continues that text one piece at a time. Nothing else ever happens: a \
model that "calls a tool" has merely written a few marked words.

## Calling

1. The model writes a marker that says: what follows is a call.
2. It writes the name of the tool and its arguments, most often as JSON.
3. The server recognises the marker, cuts the call out of the text, and hands it over in a field of its own.
4. The program checks the call, runs the tool, and sends back its result.

Each of these steps can fail, each in its own way. The marker may be missing. The JSON may lack a \
bracket. The name may be one that was never offered. The server may drop the tools without saying so, and then the \
model answers as well as it can without them: badly, and with confidence.

## Answering

When the result has come back, the whole conversation is sent again, now with the call and its result at the end. \
The model reads all of it again, since it keeps nothing between requests, and writes its answer:

```python
messages.append({"role": "tool", "tool_name": "read_file", "content": text})
answer = client.chat(model=model, messages=messages, tools=tools)
```

So a question with one call costs two answers, and a question with ten calls may cost eleven. This is why a good \
program asks for several calls at once wherever it can, and why it stops a model that repeats itself.

It is also why the order of things matters. The result has to stand right behind the call it belongs to, under the \
right name, and in the form the model's template expects. There is no error if a result is out of place: the \
model reads a conversation that makes no sense, and continues it. Most of what people call \
"bad at tools" is a model that was shown the conversation in a form it had never seen before.

## What to keep in mind

- **A claim is not a proof.** A server that says "this model has tools" has looked at a template.
- **Silence is not a no.** A server that says nothing may still do it well.
- **A stream can break.** Only the end mark tells that an answer is complete.
- *Time passes.* The next build of the same model may do better, or worse.

That is the end of this long answer.
"""

FILLER = (
    " This simulated model never finishes what it says, because its server dies in the middle of an answer,"
    " without an end mark, just when everything seemed to be going well and the reader had begun to believe that"
    " the sentence would come to a proper close, which it does not, since it breaks off before"
)
