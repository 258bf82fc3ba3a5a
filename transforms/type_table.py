"""The old types, of ``openai.types.chat``, and what takes their place, of ``openai.types.responses``."""

from __future__ import annotations

RESPONSES = "openai.types.responses"

# Types of answers: what is read changes, and so does the type.
ANSWERS: dict[str, str] = {
    "ChatCompletion": "Response",
    "ParsedChatCompletion": "ParsedResponse",
    "ParsedChatCompletionMessage": "ParsedResponse",
    "ParsedChoice": "ParsedResponse",
    "ChatCompletionMessage": "Response",
    "ChatCompletionChunk": "ResponseStreamEvent",
    "ChoiceDelta": "ResponseStreamEvent",
    "ChatCompletionMessageToolCall": "ResponseFunctionToolCall",
    "ChatCompletionMessageFunctionToolCall": "ResponseFunctionToolCall",
    "ChatCompletionMessageToolCallUnion": "ResponseFunctionToolCall",
    "ParsedFunctionToolCall": "ParsedResponseFunctionToolCall",
    "FunctionCall": "ResponseFunctionToolCall",
    "CompletionUsage": "ResponseUsage",
}
# Types of requests: dicts, most of them written by hand.
REQUESTS: dict[str, str] = {
    "ChatCompletionMessageParam": "ResponseInputItemParam",
    "ChatCompletionSystemMessageParam": "EasyInputMessageParam",
    "ChatCompletionDeveloperMessageParam": "EasyInputMessageParam",
    "ChatCompletionUserMessageParam": "EasyInputMessageParam",
    "ChatCompletionAssistantMessageParam": "EasyInputMessageParam",
    "ChatCompletionToolMessageParam": "response_input_item_param.FunctionCallOutput",
    "ChatCompletionFunctionMessageParam": "response_input_item_param.FunctionCallOutput",
    "ChatCompletionMessageToolCallParam": "ResponseFunctionToolCallParam",
    "ChatCompletionMessageFunctionToolCallParam": "ResponseFunctionToolCallParam",
    "ChatCompletionMessageToolCallUnionParam": "ResponseFunctionToolCallParam",
    "ChatCompletionToolParam": "FunctionToolParam",
    "ChatCompletionFunctionToolParam": "FunctionToolParam",
    "ChatCompletionToolUnionParam": "ToolParam",
    "ChatCompletionToolChoiceOptionParam": "response_create_params.ToolChoice",
    "ChatCompletionNamedToolChoiceParam": "ToolChoiceFunctionParam",
    "ChatCompletionContentPartTextParam": "ResponseInputTextParam",
    "ChatCompletionContentPartImageParam": "ResponseInputImageParam",
    "ChatCompletionContentPartParam": "ResponseInputContentParam",
    "ResponseFormat": "ResponseFormatTextConfigParam",
    "ResponseFormatJSONSchema": "ResponseFormatTextJSONSchemaConfigParam",
    "CompletionCreateParams": "response_create_params.ResponseCreateParams",
    "CompletionCreateParamsNonStreaming": "response_create_params.ResponseCreateParamsNonStreaming",
    "CompletionCreateParamsStreaming": "response_create_params.ResponseCreateParamsStreaming",
}
# Names that several modules of the SDK use, by the end of their path.
_BY_PATH: dict[str, str] = {
    "chat_completion.Choice": "Response",
    "chat_completion_chunk.Choice": "ResponseStreamEvent",
    "chat_completion_message_tool_call.Function": "ResponseFunctionToolCall",
    "chat_completion_message_function_tool_call.Function": "ResponseFunctionToolCall",
    "chat_completion_content_part_param.File": "ResponseInputFileParam",
    "completion_usage.PromptTokensDetails": "response_usage.InputTokensDetails",
    "completion_usage.CompletionTokensDetails": "response_usage.OutputTokensDetails",
}
# Lists of them that have a name of their own: what `input` and `content` take.
LISTS: dict[str, str] = {
    "ChatCompletionMessageParam": "ResponseInputParam",
    "ChatCompletionContentPartParam": "ResponseInputMessageContentListParam",
}
LIST_TYPES = frozenset({"list", "List", "Iterable", "Sequence", "Collection", "MutableSequence"})
# Where the types are, and the modules of the SDK that import them, from which some programs take them.
_HOMES = ("openai.types.", "openai.resources.")
# Not classes at run time: isinstance() does not take them.
UNIONS = frozenset({"ResponseStreamEvent"})


def replacement(path: str) -> tuple[str, str] | None:
    """The module and the name that take the place of the type at ``path``, if it is an old one."""
    if not path.startswith(_HOMES):
        return None
    head, _, name = path.rpartition(".")
    new = _BY_PATH.get(f"{head.rpartition('.')[2]}.{name}")
    if new is None and (".chat" in head or name == "CompletionUsage" or "shared" in head):
        new = ANSWERS.get(name) or REQUESTS.get(name)
    if new is None and name.startswith("ChoiceDelta") and ".chat" in head:
        new = "ResponseStreamEvent"
    return located(new) if new is not None else None


def list_replacement(path: str) -> tuple[str, str] | None:
    """The named list type that takes the place of ``list[path]``."""
    if not path.startswith(tuple(f"{home}chat" for home in _HOMES)):
        return None
    new = LISTS.get(path.rpartition(".")[2])
    return located(new) if new is not None else None


def located(new: str) -> tuple[str, str]:
    """``Response`` -> the public module and the name; submodules as far as the SDK asks for."""
    head, _, name = new.rpartition(".")
    return (f"{RESPONSES}.{head}" if head else RESPONSES), name


def is_answer(path: str) -> bool:
    """Whether the type at ``path`` is one of an answer (a model), not of a request (a dict)."""
    found = replacement(path)
    return (
        found is not None
        and not path.endswith(("Param", "ResponseFormat", "ResponseFormatJSONSchema"))
        and ("CompletionCreateParams" not in path)
    )
