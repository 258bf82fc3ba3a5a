"""3xx: reading the answer."""

from __future__ import annotations

from migrate_responses.rulebook.rule import GUIDE, MANUAL, NOTE, PROJECT, SAFE, UNSAFE, Rule

RESPONSE = "openai.types.responses.Response"
USAGE = "openai.types.responses.ResponseUsage"

ANSWERS: tuple[Rule, ...] = (
    Rule(
        "MR301",
        "output_text",
        SAFE,
        "The text of the first choice is the response's `output_text`, whatever path the value took"
        " to get there.",
        "print(answer.choices[0].message.content)",
        "print(answer.output_text)",
        GUIDE,
    ),
    Rule(
        "MR302",
        "finish_reason as text, where the old word is not sure",
        UNSAFE,
        "`finish_reason` is spelled out from `incomplete_details` and the calls in `output` where its text"
        " is wanted. That needs a name for the answer; where `tool_choice` forces a function, the old word"
        " was `stop` and not `tool_calls`; and most chunks of a stream have no reason at all.",
        "log.info(ask().choices[0].finish_reason)",
        'answer = ask()\nlog.info("length" if answer.incomplete_details is not None else "stop")',
        RESPONSE,
        step="check who reads it, then use --unsafe-fixes",
    ),
    Rule(
        "MR303",
        "usage",
        SAFE,
        "`prompt_tokens` is `input_tokens`, `completion_tokens` is `output_tokens`, and so are"
        " their details.",
        "cost(answer.usage.prompt_tokens, answer.usage.completion_tokens)",
        "cost(answer.usage.input_tokens, answer.usage.output_tokens)",
        USAGE,
    ),
    Rule(
        "MR304",
        "Field without equivalent",
        MANUAL,
        "The field read has no counterpart in a response (`system_fingerprint`, `object`,"
        " `logprobs`, `audio`, `annotations`, prediction tokens), or one of another shape. Decide"
        " what the code should do without it.",
        "log.info(answer.system_fingerprint)",
        "",
        RESPONSE,
        step="do without it",
    ),
    Rule(
        "MR305",
        "The whole response escapes",
        UNSAFE,
        "The whole response leaves what can be seen: returned from a public function, serialised,"
        " stored, given to another library. Whoever receives it gets a Response instead of a"
        " ChatCompletion.",
        "return jsonify(answer.model_dump())",
        "return jsonify(answer.model_dump())  # a Response: other keys",
        PROJECT,
        step="check who reads it, then use --unsafe-fixes",
    ),
    Rule(
        "MR306",
        "Value of mixed origin",
        MANUAL,
        "The same name holds this response on one path and something else (another provider's answer, say) on"
        " another, and is read after they meet. Read each where it is made.",
        "if fallback:\n"
        "    answer = litellm.completion(model=MODEL, messages=messages)\n"
        "else:\n"
        "    answer = client.chat.completions.create(model=MODEL, messages=messages)\n"
        "print(answer.choices[0].message.content)",
        "",
        PROJECT,
        step="read each where it is made",
    ),
    Rule(
        "MR307",
        "Attribute set on a response",
        MANUAL,
        "The code changes the completion it received. A response is built differently; keep the"
        " changed value in a variable of your own. A text that is put back into a message of which only one"
        " local name knows becomes such a variable by itself.",
        "answer.choices[0].message.content = clean(answer.choices[0].message.content)",
        "text = clean(answer.output_text)",
        PROJECT,
        step="keep it in a variable of your own",
    ),
    Rule(
        "MR308",
        "Already broken",
        MANUAL,
        "The code reads something that Chat Completions does not have either"
        " (`.choices[0].messages`). It fails today; mend it first, so that the migration does not"
        " hide it.",
        "print(answer.choices[0].messages.content)",
        "print(answer.output_text)",
        "openai.types.chat.ChatCompletion",
        step="mend it first",
    ),
    Rule(
        "MR309",
        "Use not understood",
        MANUAL,
        "The response, or a part of it, is used in a way that this tool does not understand, so it"
        " cannot promise that the code still works. Simplify the use, or migrate this flow by hand.",
        'first = operator.attrgetter("message.content")(answer.choices[0])',
        "first = answer.output_text",
        PROJECT,
        step="simplify it, or migrate this flow by hand",
    ),
    Rule(
        "MR310",
        "No text is an empty string",
        SAFE,
        '`content` was None when there was no text; `output_text` is `""`. Tests for None become'
        " truth tests, and `or None` is written where None could be seen.",
        "if answer.choices[0].message.content is None:\n    retry()",
        "if not answer.output_text:\n    retry()",
        RESPONSE,
    ),
    Rule(
        "MR311",
        "finish_reason",
        SAFE,
        "A comparison of `finish_reason` becomes the test of `status`, `incomplete_details` or the"
        " output items that means the same; where its text is wanted (logged, kept, returned), the old word"
        " is spelled out from them.",
        'if answer.choices[0].finish_reason == "length":\n    more()',
        'if answer.incomplete_details and answer.incomplete_details.reason == "max_output_tokens":\n'
        "    more()",
        RESPONSE,
    ),
    Rule(
        "MR312",
        "Choices as a list",
        SAFE,
        "A response is its only choice: aliases, loops and `len` over `choices` fold away.",
        "for choice in answer.choices:\n    print(choice.message.content)",
        "print(answer.output_text)",
        PROJECT,
    ),
    Rule(
        "MR313",
        "Read like a dictionary",
        SAFE,
        "A dump of the completion that is only read for known leaves becomes the same leaf of the response.",
        'text = answer.model_dump()["choices"][0]["message"]["content"]',
        "text = answer.output_text",
        RESPONSE,
    ),
    Rule(
        "MR314",
        "Whole response displayed",
        NOTE,
        "The whole object is printed or logged. That keeps working, and looks different: it is a"
        " Response now.",
        "print(answer)",
        "print(answer)",
        PROJECT,
    ),
    Rule(
        "MR315",
        "Unused helper",
        NOTE,
        "A function that nobody in the program calls or names reads its parameter as an old answer. It gets"
        " none of those that are migrated, so it stays as it is. Remove it, or rewrite it before you use it.",
        "def text(answer):\n    return answer.choices[0].message.content",
        "def text(answer):\n    return answer.choices[0].message.content",
        PROJECT,
    ),
)
