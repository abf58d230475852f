"""The findings from the log about the next reply: whether a person wants to see a call, and whether work continues."""

from __future__ import annotations

from tests.tables import every
from toolsupport.core.expected_reply import circumstances, is_about_calls
from toolsupport.core.types import ChatMessage, Role


@every(
    "asked",
    [
        "Show me a tool call",
        "How would you write a call that deletes x?",
        "What does a mail call look like?",
        "Explain the tool call format",
        "Show me how you'd delete build/old.log, but don't do it",
        "Write the command but do not run it",
        "Zeig mir einen Aufruf",
        "Montre-moi un appel d'outil",
        "Muéstrame un ejemplo de llamada",
        "Como seria a chamada?",
        "Mostrami una chiamata",
        "Pokaż przykład wywołania",
        "Покажи пример вызова",
        "给我看一个调用的例子",
        "呼び出しの例を見せて",
        "호출 예시를 보여줘",
        "Show me the syntax.",
        "How does the syntax work?",
        "Explique la syntaxe",
        "How do I call the weather tool?",
        "Show me how to call delete_file",
        "Show me how to delete a file",
        "If I had asked you to delete it, what would you have said?",
    ],
)
def test_a_person_wants_to_see_a_call(asked: str) -> None:
    assert is_about_calls(asked)
    assert not is_about_calls(asked + " " * 400)  # a longer message holds more than that


@every(
    "asked",
    [
        "Give me a call tomorrow: put it in todo.txt",
        "Explain to Kim by mail that I have a call at five",
        "Show the call log",
        "Explain how the tool call parser works",
        "Show me where tool calls are parsed",
        "Describe the function call handling of this project and fix it",
        "Show me the tool call code and clean it up",
        "Explain the function call in src/main.py",
        "Explain how the call to foo() works",
        "Show me what's in build and delete old.log",
        "Book a call with Kim",
        "How can I call Kim? Mail her",
        "Could you explain to Kim that I'm late?",
        "Don't delete it, rename it",
        "Как дела? Удали файл",
        "Wie sieht das Wetter aus?",
        "Comment ça va ? Appelle Kim",
        "Convert the note to Markdown format",
        "Show me todo.txt in PDF format",
        "Fix the syntax",
        "Explain the format of data.csv",
        "How do I call the office?",
        "Show me how warm it is in Lima",
        "Show me how the parser works",
    ],
)
def test_a_person_wants_something_done(asked: str) -> None:
    assert not is_about_calls(asked)


def test_work_continues_behind_results() -> None:
    asked, answer = ChatMessage(Role.USER, "Show me a call"), ChatMessage(Role.ASSISTANT, "")
    notice, result = ChatMessage(Role.NOTICE, "Model changed."), ChatMessage(Role.TOOL, "done", call_id="1")
    reminder = ChatMessage(Role.USER, "\n<system-reminder>\nThe list of tasks is empty.\n</system-reminder>\n")
    for log, continues, about in (
        ([], False, False),
        ([asked], False, True),
        ([asked, notice], False, True),
        ([asked, answer, result], True, True),
        ([asked, answer, ChatMessage(Role.USER, "Delete it")], False, False),
        ([asked, answer, result, reminder, reminder], True, True),
        ([asked, answer, result, ChatMessage(Role.USER, "Delete it")], False, False),
        ([asked, answer, reminder], False, False),
    ):
        found = circumstances(log, lambda raw: raw == "x")
        assert (found.continues, found.about_calls, found.is_result("x")) == (continues, about, True)
    found = circumstances([asked], lambda raw: raw == "x", called_for=True)
    assert (found.continues, found.about_calls, found.is_result("x")) == (True, False, True)
