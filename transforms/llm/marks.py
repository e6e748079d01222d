"""Neutralise the special tokens of chat templates in texts that are sent to a model.

A server that inserts a message into its chat template may read `<|im_end|>` in a web page as the
end of the message. No prompt contains such a token, so each one found is part of the data.
"""

import re
from collections.abc import Mapping
from typing import Any

_TAGS = (
    "s|bos|eos|pad|unk|mask|cls|sep|bos_token|eos_token|sys|start_of_turn|end_of_turn|turn"
    "|im_start|im_end|tool_call|tool_response|tools|think|thinking|image_soft_token"
    "|start_of_image|end_of_image|end_of_utterance|fim_prefix|fim_suffix|fim_middle"
)
_BRACKETS = (
    "INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|ARGS|THINK|IMG"
    "|IMG_BREAK|IMG_END|AUDIO|BEGIN_AUDIO|g?MASK|sMASK|CLS|SEP|PAD|UNK|BOS|EOS"
)
# The first character of a special token: `<|eot_id|>`, `<｜User｜>`, `</s>`, `<<SYS>>`, `[/INST]`.
_MARK = re.compile(
    rf"<(?=[|\uff5c]|/?(?:{_TAGS})\s*>)|\[(?=/?(?:{_BRACKETS})\])",
    re.IGNORECASE,
)


def without_marks(text: str) -> str:
    """Return the text with a space after the first character of each special token."""
    return _MARK.sub(lambda match: f"{match[0]} ", text)


def all_without_marks(value: Any) -> Any:
    """Return a JSON value with `without_marks` applied to its strings, but not to field names."""
    if isinstance(value, str):
        return without_marks(value)
    if isinstance(value, Mapping):
        return {name: all_without_marks(below) for name, below in value.items()}
    if isinstance(value, list | tuple):
        return [all_without_marks(below) for below in value]
    return value
