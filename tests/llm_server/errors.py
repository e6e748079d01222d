"""The errors of the OpenAI API, in its shape and with its codes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass
class ApiError(Exception):
    status: int
    message: str
    type: str = "invalid_request_error"
    code: str | None = None
    param: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None  # the whole reply of a server that has a shape of its own

    def payload(self) -> Any:
        if self.body is not None:
            return self.body
        return {
            "error": {
                "message": self.message,
                "type": self.type,
                "param": self.param,
                "code": self.code,
            }
        }


def no_key() -> ApiError:
    return ApiError(401, "You didn't provide an API key.")


def wrong_key(key: str) -> ApiError:
    # The real endpoint repeats the key with its middle masked; a careless one repeats all of it,
    # which is what shows whether a client leaks it.
    return ApiError(401, f"Incorrect API key provided: {key}.", code="invalid_api_key")


def unknown_model(model: str) -> ApiError:
    message = f"The model `{model}` does not exist or you do not have access to it."
    return ApiError(404, message, code="model_not_found", param="model")


def unknown_path(method: str, path: str) -> ApiError:
    return ApiError(404, f"Invalid URL ({method} {path})", code="unknown_url")


def bad(message: str, param: str | None, code: str | None = None) -> ApiError:
    return ApiError(400, message, code=code, param=param)


def unsupported(param: str, instead: str = "") -> ApiError:
    message = f"Unsupported parameter: '{param}' is not supported with this model."
    if instead:
        message += f" Use '{instead}' instead."
    return bad(message, param, "unsupported_parameter")


def fixed_temperature(value: Any) -> ApiError:
    message = (
        f"Unsupported value: 'temperature' does not support {value} with this model. "
        "Only the default (1) value is supported."
    )
    return bad(message, "temperature", "unsupported_value")


def too_long(limit: int, tokens: int, allowed: int) -> ApiError:
    message = (
        f"This model's maximum context length is {limit} tokens. However, your messages resulted "
        f"in {tokens} tokens. Please reduce the length of the messages."
    )
    return bad(message, "messages", "context_length_exceeded")


def too_many(allowed: int, cap: int) -> ApiError:
    message = (
        f"max_tokens is too large: {allowed}. This model supports at most {cap} completion tokens, "
        f"whereas you provided {allowed}."
    )
    return bad(message, "max_tokens", "invalid_value")


def rate_limited(what: str, limit: int, headers: Mapping[str, str]) -> ApiError:
    message = f"Rate limit reached on {what} per min: Limit {limit}. Please try again later."
    return ApiError(429, message, what, "rate_limit_exceeded", headers=headers)


def quota_spent() -> ApiError:
    message = "You exceeded your current quota, please check your plan and billing details."
    return ApiError(429, message, "insufficient_quota", "insufficient_quota")


def server_error() -> ApiError:
    message = "The server had an error while processing your request. Sorry about that!"
    return ApiError(500, message, "server_error")


def broken(error: Exception) -> ApiError:
    """An answerer that broke is a broken test: say what it was."""
    return ApiError(500, f"{type(error).__name__}: {error}", "server_error")


def overloaded() -> ApiError:
    message = "The engine is currently overloaded, please try again later."
    return ApiError(503, message, "server_error", "overloaded")


def filtered_prompt() -> ApiError:
    message = "The response was filtered due to the prompt triggering the content policy."
    return bad(message, "prompt", "content_filter")
