"""The sentences that rows about models hold as codes: results of tests, reasons of changes, tools left out."""

from __future__ import annotations

from toolsupport.core.sentence_codes import SentenceTable

# The names of the steps of a test.
STEPS = {
    "step_declared": "Server claim",
    "step_loaded": "Load the model",
    "step_accepted": "Accept tools",
    "step_rendered": "Tools in the prompt",
    "step_called": "Call the right tool",
    "step_second_turn": "Multi-turn: use a tool's result",
    "step_control": "Restraint: no call when none is needed",
    "step_parallel": "Parallel calls",
    "step_constrains": "Enforce a schema",
    "step_formats": "Text formats",
    "step_per_tool": "File tools",
}
# One trial of a model.
TRIALS = {
    "answers": "The model answers.",
    "accepts_tools": "The server accepted a request with tools.",
    "needs_setting": "The server needs a setting for tools: `{flag}`.",
    "no_claim": "The server does not state whether the model supports tools.",
    "claims_tools": "The server says that the model supports tools.",
    "claims_no_tools": "The server does not list tools among the model's capabilities: {capabilities:list}.",
    "claims_nothing": "The server lists no capabilities of the model.",
    "no_claim_in_time": "The server did not answer within {seconds:g} s.",
    "no_whole_answer": "The answer was not complete after {seconds:.0f} s.",
    "no_answer_in_time": "The server did not answer within {seconds:.0f} s.",
    "tools_in_prompt": "The tools are in the prompt, as the server's {source} shows.",
    "tools_not_in_prompt": "The tools are not in the prompt, as the server's {source} shows.",
    "prompt_not_shown": "The server neither shows its prompts nor counts their tokens.",
    "prompt_tokens": "The prompt has {without} tokens without tools and {with_tools} with them.",
    "cut_before_call": "The answer was cut after {tokens} tokens, before any call.",
    "answered_nothing": "The answer was empty.",
    "answered_nothing_counted": (
        "The answer was empty, although the server counted {tokens} tokens: it may have dropped a call."
    ),
    "thought_and_nothing": "The model thought, and its answer was empty.",
    "thought_and_nothing_counted": (
        "The model thought, and its answer was empty, although the server counted {tokens} tokens: it may have dropped "
        "a call."
    ),
    "refuses_streaming": "The server refuses tools together with streaming.",
    "server_wrote": "Server: {text:quoted}",
    "call_rejected": "The call could not be used: {reason}",
    "called_nothing": "The model called nothing and wrote: {text:quoted}",
    "called_another": "The model called {called} instead of {wanted}.",
    "not_copied": "The model wrote {written:quoted} instead of {wanted}.",
    "wrong_copies": "The argument copies was {written} instead of {wanted}.",
    "right_call": "The model called the right tool with the right arguments.",
    "right_call_repaired": "The model called the right tool with the right arguments. Repairs: {repairs:list}.",
    "call_left_in_text": "The call stayed in the text. {setting}",
    "another_format": "The model wrote the call as {written}, not as {wanted}.",
    "greeted_and_called": "The model answered a greeting with a call of {tool}.",
    "greeted": "The model answered a greeting without a call.",
    "schema_enforced": "The model wrote what the schema demands and the request forbids.",
    "schema_ignored": "The server did not enforce the schema. The model wrote: {text:quoted}",
    "no_call_allowed": "The model chose to call nothing, which the schema cannot forbid on this kind of server.",
    "schema_dropped_in_use": "A reply to a request with a schema did not follow it. The model wrote: {text:quoted}",
    "pattern_refused_in_use": "The server refused a schema with a pattern: {message:quoted}",
    "odd_schema_refused": "The server refused a schema that it cannot read, instead of ignoring it: {message:quoted}",
    "pattern_ignored": "The server enforced the schema without its pattern. The model wrote: {text:quoted}",
    "schema_refused": "The server refused the schema: {message:quoted}",
    "two_calls": "The model made two calls in one answer.",
    "two_other_calls": "The model made two calls at once, but not the requested ones.",
    "two_rejected_calls": "The model made two calls at once, but not the requested ones: {reason:bare}.",
    "no_calls_of_two": "Two calls were requested and none was made, which proves nothing about parallel calls.",
    "cut_after_calls": "The answer was cut after {made} of two calls.",
    "one_of_two": "Two calls were requested at once, and the model made {made}.",
    "result_read": "The model used the result of the tool.",
    "result_passed_on": "The model passed the result on to {tool}.",
    "result_in_reasoning": "The model used the result in its reasoning only, and answered: {text:quoted}",
    "called_again": "The model called {tool} again instead of using the result.",
    "result_not_read": "The result was {result}, and the answer: {text:quoted}",
    "called_tool": "The model called {tool}.",
    "used_bash": "The model did the work of {tool} through bash.",
    "call_did_not_fit": "{called} The call did not fit: {reason}",
    "called_for_else": "The model called {tool}, but not for {wanted}: {written:quoted}",
    "asked_back": "The model asked a question instead: {text:quoted}",
    "did_not_call": "The model did not call {tool} and wrote: {text:quoted}",
}
# The progress of a test.
PROGRESS = {
    "trial": "{n}: {why}",
    "may_load": "The model may have to be loaded: up to {seconds:g} s, which are not counted.",
    "loading": "The server has been loading the model for {seconds:.0f} s, which are not counted.",
    "skipped": "Skipped by a person.",
    "follows_other_tests": "Follows when no other test waits.",
    "out_of_time": "The test ran out of time.",
    "tools_not_measured": "Not measured, because the test ran out of time: {tools:list}.",
    "not_measured": "Not measured, because the test ran out of time. Trials so far: {tried}.",
    "passed_of": "{right} of {tried}. {last}",
    "passed_of_open": "{right} of {tried}, too few or too mixed for a result. {last}",
}
# The findings of a test.
FINDINGS = {
    "called_natively": "Called natively: {right} of {tried}.",
    "called_natively_mixed": "Called natively: {right} of {tried}. Otherwise: {wrong:codes}.",
    "called_when_streamed": "Called natively, but only in streamed answers: {right} of {tried}.",
    "called_when_not_streamed": "Called natively, but only in answers that are not streamed: {right} of {tried}.",
    "streaming_open": (
        "Called only in streamed answers, or only in others ({right} of {tried}): too few trials to decide."
    ),
    "too_few_for_no": "Called natively: {right} of {tried}. A no needs {least} trials.",
    "too_many_open": (
        "Called natively: {right} of {tried}; {silent} of {made} trials proved nothing, and they may be the ones with "
        "calls. {why}"
    ),
    "too_few_trials": "Too few trials were made.",
    "nothing_tried": "Nothing was tried.",
    "tools_refused": "The server refused the tools. {why}",
    "not_in_prompt": "The tools never reach the model's prompt.",
    "never_called": "The model was asked for a call in plain words, and called nothing.",
    "thinking_both": "With thinking on: {on:bare}, off: {off:bare}.",
    "share": "{right} of {tried}",
    "nothing_proved": "inconclusive ({why:bare})",
    "works_as_text": "It works with tools as {format} text: {right} of {tried}.",
    "works_as_text_unthinking": "It works with tools as {format} text: {right} of {tried} with thinking off.",
    "tool_native": "`{tool}`: native",
    "tool_via_bash": "`{tool}`: through bash",
    "tool_refused": "`{tool}`: refused",
    "tool_ways": "{ways:list}.",
    "tool_ways_open": "{ways:list}",
    "confirmed": "Confirmed: {capabilities:list}.",
    "test_failed": "The test failed.",
    "test_interrupted": "The test was interrupted.",
    "test_cancelled": "The test was cancelled.",
    "process_stopped": "The process that ran the test was stopped. Inconclusive.",
    "process_gone": (
        "The process that ran the test ended, or could not write to the database for {seconds} s. Inconclusive."
    ),
}
# A verdict, after the name of a model.
VERDICTS = {
    "verdict_native": "calls tools natively",
    "verdict_text": "works with tools as text",
    "verdict_flaky": "calls tools, but not reliably",
    "verdict_ignored": "accepts tools but never calls them",
    "verdict_refused": "refuses tools",
    "verdict_misconfigured": "needs a server setting for tools",
    "verdict_inconclusive": "the test was inconclusive",
    "formats_do_not_arrive": "{formats} do not arrive",
}
# Advice for a chat that is too long, by kind of server.
CONTEXT = {
    "context_of_request": "A larger context (`num_ctx`) or fewer tools would help.",
    "context_llamacpp": "Start its server with a larger -c (which -np divides), or offer fewer tools.",
    "context_vllm": "Start its server with a larger --max-model-len, or offer fewer tools.",
    "context_sglang": "Start its server with a larger --context-length, or offer fewer tools.",
    "context_of_server": ("Start its server with a larger context, choose a model with one, or offer fewer tools."),
}
# Reasons of a change that a program wrote.
CHANGES = {
    "answered_in_chat": "Answered in a chat.",
    "refused_in_chat": "The server refused tools in a chat.",
    "text_mode_chosen": "Text mode was chosen.",
    "use_again": "Tools are used again.",
    "formats_failed": "A test found that {formats} do not arrive.",
    "expired": "The override was set until {until}.",
    "override_undone": "The override was undone.",
    "test_undone": "The test was undone.",
    "undo_reverted": "The undo was reverted.",
    "unchanged_for_everyone": "Nothing changed for everyone: chats that had left a format use it again.",
    "unchanged_profile": "Nothing changed: the profile of the family has the same value.",
    "unchanged_earlier_test": "Nothing changed: an earlier test found the same.",
    "unchanged_later_test": "Nothing changed: a later test decides.",
    "unchanged_person": "Nothing changed: a person decided it.",
    "unchanged_server": "Nothing changed: the server's own claim applies.",
    "imported": "Imported from a file.",
    "build_changed": "The model has changed since it was tested: the measured values may no longer apply.",
    "build_back": "The model runs a build that was tested: the measured values apply.",
}
# Why a tool of an MCP server cannot be offered.
LEFT_OUT = {
    "tool_without_name": "A tool was left out: its name is missing, too long or has invisible characters.",
    "tool_imitates": "{tool} was left out: it looks like {other}, but has letters of another script.",
    "tool_no_object": "{tool} was left out: its schema does not describe an object.",
    "tool_too_long": "{tool} was left out: its definition has more than {most:,} characters.",
    "tool_unstorable": "{tool} was left out: its definition has characters that cannot be stored.",
    "tool_odd_number": "{tool} was left out: its definition has NaN or an infinity, which are no numbers in JSON.",
    "tool_schema": "{tool} was left out: in its schema, {reason}.",
    "tool_unusable": "{tool} was left out: {reason}.",
    "tool_twice": "{tool} was left out: there are several tools with that name.",
    "tools_over_limit": "Only the first {most} tools were used.",
}
# Why a model server did not answer; `text` is a quotation of what it answered itself.
SERVERS = {
    "server_silent": "The server at {server} does not answer ({cause}). {hint}",
    "server_of_another_kind": "The program at {server} is not {title} ({cause}). Check the address.",
    "server_without_key": "The server at {server} requires an API key ({status}): {text}. Enter its API key.",
    "server_unauthorized": "The server at {server} requires another API key ({status}): {text}. Enter its API key.",
    "server_without_model": "The server at {server} does not have this model: {text}. Choose another model.",
    "server_busy": "The server at {server} is busy ({status}): {text}. Try again later.",
    "server_refused": "The server at {server} refused the request ({status}): {text}.",
    "server_failed": "The server at {server} failed ({status}): {text}. Its log has the reason.",
    "answer_cut_off": "The answer was cut off: {cause}.",
    "key_unreadable": (
        "The stored API key cannot be read, because TOOLSUPPORT_SECRET_KEY has changed. Enter the API key again."
    ),
}
# The cause in them.
CAUSES = {
    "connection_refused": "connection refused",
    "connection_closed": "the connection was closed",
    "connection_failed": "the connection failed",
    "name_unknown": "its name is not known",
    "certificate_untrusted": "its certificate is not trusted",
    "not_secure": "no secure connection could be made",
    "not_connected_in_time": "no connection in time",
    "address_unusable": "its address cannot be used",
    "address_inside": "its address is inside this network; an administrator can allow that on the server's page",
    "address_never_used": "it resolves to an address that is never used, such as cloud metadata",
    "no_data_in_time": "no data came in time",
    "nothing_came": "nothing came for {seconds:g} s",
    "not_http": "it does not speak HTTP",
    "proxy_answers": "a proxy answers in its place",
    "request_unwritable": "the request cannot be written",
    "key_unwritable": "its API key has a character that cannot be sent; enter it again",
    "redirects": "it redirects to another address",
    "answer_unreadable": "its answer could not be read",
    "no_route": "the network has no route to it",
    "web_page": "it sent a web page",
    "not_json": "its answer is not JSON",
    "no_list_of_models": "it lists no models",
    "no_description": "it does not describe its models",
    "other_vectors": "it returned other vectors than requested",
}
# Advice about a server that does not answer, by its kind.
HINTS = {
    "start_ollama": "Start it with `ollama serve`, or correct its address.",
    "start_simulator": "It starts with this site; alone, start it with `{command} simulator`.",
    "start_openai": "Start it, or correct its address: the part before /v1 or /chat/completions.",
    "start_llamacpp": "Start it with `llama-server --jinja -m MODEL.gguf`, or correct its address.",
    "start_vllm": "Start it with `vllm serve MODEL --enable-auto-tool-choice --tool-call-parser NAME`.",
    "start_sglang": "Start it with `--tool-call-parser NAME`: without one, calls stay in the text.",
    "start_lmstudio": "Start its server in the developer tab, or with `lms server start`.",
    "start_localai": "Start it with `local-ai run`, or correct its address.",
    "check_hosted": "Check its address and its API key, and whether this machine reaches the internet.",
}
# Why a download of a model ended; `text` is a quotation of the server.
PULLS = {
    "pull_broken_off": "The connection to the server was lost. Resume to continue.",
    "pull_disk_full": "The disk of the server is full. Make room, then resume. Server: {text}.",
    "pull_needs_newer": "This model needs a newer version of Ollama. Server: {text}.",
    "pull_not_found": "The registry has no model with this name. Check the name and the tag. Server: {text}.",
    "pull_bad_name": "This is not a valid model name. Server: {text}.",
    "pull_damaged": "The downloaded data was damaged. Resume to download it again. Server: {text}.",
    "pull_denied": "The registry denies access to this model. Server: {text}.",
    "pull_no_registry": "The server cannot reach the registry. Check its network, then resume. Server: {text}.",
    "pull_failed": "The server could not download it. Server: {text}.",
}
# Why a database cannot be read.
DATABASES = {
    "no_such_file": "There is no such file on the server.",
    "no_ordinary_file": "This is not a regular file.",
    "directory_for_file": "This is a directory. Enter the path of a file.",
    "file_for_directory": "This is a file. Enter the path of a directory.",
    "may_not_read": "The account of toolsupport may not read this.",
    "no_sqlite_file": "This file is not an SQLite database, or it is encrypted.",
    "file_damaged": "This file is damaged.",
    "file_locked": "Another program has locked this database.",
    "file_not_finished": "A program did not finish a change of this file. Open it once with that program.",
    "file_not_opened": "This file cannot be opened.",
    "file_not_read": "This file cannot be read from its disk.",
    "file_of_tables_unreadable": "A file in this directory cannot be read: {text:quoted}",
    "own_database": "This is the database of toolsupport itself, which models may not query.",
    "no_such_directory": "There is no such directory on the server.",
    "no_files_of_tables": "This directory has no CSV, TSV or Parquet file.",
    "role_has_powers": "Its role has special powers, such as superuser. Enter a role that can only read.",
    "role_belongs_to": "Its role belongs to {found}. Enter a role that can only read.",
    "role_can_change": "Its role can change {found}. Enter a role that can only read.",
    "role_can_reach": (
        "Its role can use {found}, and reach other servers, files or programs with it. Enter a role that can only read."
    ),
    "database_not_reached": "No connection to the database: {text:quoted}",
}
# Why a query failed; such a failure shows nothing about the database.
QUERIES = {
    "query_too_long": "The query was stopped: it took longer than {seconds:g} seconds.",
    "query_too_large": "The query was stopped: it needed too much time or memory.",
    "query_needs_memory": "The query needs too much memory.",
    "database_refused": "The database refused: {text:quoted}",
}
# Why an MCP server does not answer.
MCP = {
    "mcp_no_answer": "It does not answer in time.",
    "mcp_error": "It answered with an error: {text:quoted}",
    "mcp_protocol": "Its answer does not follow the protocol.",
    "mcp_unreachable": "It cannot be reached: {text:bare}.",
    "mcp_left": "The connection was closed.",
    "mcp_list_too_large": "Its list of tools is too large: it has more than {most:,} values.",
    "mcp_too_many_values": "It sent a message with too many values.",
    "mcp_too_much": "It sent too much within ten seconds.",
    "mcp_message_too_long": "It sent a message of more than 8 MiB.",
    "mcp_line_too_long": "It sent a line of more than 8 MiB.",
    "mcp_no_messages": "It sent more than {most} lines in a row that are not messages.",
    "mcp_not_started": "{command} cannot be started: {text}.",
    "mcp_ended": "The process ended with {status}.",
    "mcp_ended_after": "The process ended with {status}. Its last output: “{text}”",
    "mcp_killed": "The process was ended by signal {signal}.",
    "mcp_killed_after": "The process was ended by signal {signal}. Its last output: “{text}”",
}
# The state of a model's tools in a notice, and the source that decides it.
LABELS = {
    "tools_enabled": "Enabled",
    "tools_disabled": "Disabled",
    "tools_as_text": "Text mode",
    "tools_unknown": "Unknown",
    "source_session": "this chat",
    "source_user_confirmed": "person",
    "source_auto_detected": "test",
    "source_declared": "server",
    "source_auto_detected_stale": "test of an older build",
    "source_profile": "profile",
    "source_default": "built-in default",
}

OF_ROWS = (STEPS, TRIALS, PROGRESS, FINDINGS, VERDICTS, CONTEXT, CHANGES, LEFT_OUT)
OF_FAILURES = (SERVERS, CAUSES, HINTS, PULLS, DATABASES, QUERIES, MCP)
SENTENCES = SentenceTable({code: text for table in (*OF_ROWS, *OF_FAILURES, LABELS) for code, text in table.items()})
sentence = SENTENCES.sentence
