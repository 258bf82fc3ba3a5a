"""5xx: tools and their calls."""

from __future__ import annotations

from migrate_responses.rulebook.rule import FUNCTIONS, GUIDE, MANUAL, PROJECT, SAFE, Rule

CALL = "openai.types.responses.ResponseFunctionToolCall"

TOOLS: tuple[Rule, ...] = (
    Rule(
        "MR501",
        "Tools flattened",
        SAFE,
        "A tool loses its inner `function` level, wherever it is written: inline, in a constant, in"
        " another module, by a helper. A tool without parameters gets an empty object schema."
        " Tools that are read from JSON or YAML are flattened where they are passed, and so are those"
        " that somebody else needs in the old form: another SDK, users of a package, a text made of them.",
        'TOOLS = [{"type": "function", "function": {"name": "add", "parameters": SCHEMA}}]',
        'TOOLS = [{"type": "function", "name": "add", "parameters": SCHEMA, "strict": False}]',
        FUNCTIONS,
    ),
    Rule(
        "MR502",
        "tool_choice",
        SAFE,
        "A forced function is named one level higher. The words auto, none and required stay.",
        'tool_choice={"type": "function", "function": {"name": "add"}}',
        'tool_choice={"type": "function", "name": "add"}',
        "openai.types.responses.ToolChoiceFunctionParam",
    ),
    Rule(
        "MR503",
        "functions and function_call",
        SAFE,
        "The form of 2023 becomes tools and `tool_choice`, with `parallel_tool_calls=False`,"
        " because it answered with one call at most.",
        "client.chat.completions.create(\n"
        '    model=MODEL, messages=messages, functions=[ADD], function_call="auto"\n'
        ")",
        "client.responses.create(\n"
        "    model=MODEL,\n"
        "    input=messages,\n"
        '    tools=[{"type": "function", **ADD, "strict": False}],\n'
        '    tool_choice="auto",\n'
        "    parallel_tool_calls=False,\n"
        "    store=False,\n"
        ")",
        FUNCTIONS,
    ),
    Rule(
        "MR504",
        "Tools of unknown origin",
        MANUAL,
        "Where the tools are written could not be found (a database, another package, a list that is also"
        " read elsewhere), so they cannot be flattened. Convert them where they are made.",
        "client.chat.completions.create(model=MODEL, messages=messages, tools=server.list_tools())",
        'tools = [{"type": "function", **tool["function"]} for tool in server.list_tools()]\n'
        "client.responses.create(model=MODEL, input=messages, tools=tools, store=False)",
        GUIDE,
        step="flatten them where they are made",
    ),
    Rule(
        "MR505",
        "Tool calls read",
        SAFE,
        "Tool calls are the output items of type `function_call`: `id` is `call_id`,"
        " `function.name` is `name`, `function.arguments` is `arguments`.",
        "for call in answer.choices[0].message.tool_calls or []:\n"
        "    run(call.id, call.function.name, call.function.arguments)",
        'for call in [item for item in answer.output if item.type == "function_call"]:\n'
        "    run(call.call_id, call.name, call.arguments)",
        CALL,
    ),
    Rule(
        "MR506",
        "Use of a tool call not understood",
        MANUAL,
        "A tool call is used in a way that has no plain counterpart, or is handed to code that"
        " cannot be seen. Migrate this flow by hand.",
        "framework.dispatch(answer.choices[0].message.tool_calls)",
        "",
        CALL,
        step="migrate this flow by hand",
    ),
    Rule(
        "MR507",
        "Tool schemas read back",
        SAFE,
        "Code that reads the tools (a table of names, say) reads them one level higher.",
        'names = [tool["function"]["name"] for tool in TOOLS]',
        'names = [tool["name"] for tool in TOOLS]',
        PROJECT,
    ),
    Rule(
        "MR508",
        "strict written out",
        SAFE,
        "A tool that does not say is strict for Responses, and was not for Chat Completions:"
        ' optional arguments would be filled with `""` and 0. `"strict": False` keeps the old'
        " meaning; `--api-defaults adopt` leaves it out.",
        '{"type": "function", "function": {"name": "add", "parameters": SCHEMA}}',
        '{"type": "function", "name": "add", "parameters": SCHEMA, "strict": False}',
        "https://github.com/langchain-ai/langchain/issues/35837",
    ),
    Rule(
        "MR509",
        "Custom and allowed tools",
        SAFE,
        "Custom tools and the `allowed_tools` choice lose their inner levels too.",
        '{"type": "custom", "custom": {"name": "sql", "description": TEXT}}',
        '{"type": "custom", "name": "sql", "description": TEXT}',
        "openai.types.responses.CustomToolParam",
    ),
)
