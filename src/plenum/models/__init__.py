"""The chat contract of all models, and the backends that implement it."""

from plenum.models.chat import (
    Answer,
    Attempt,
    CallError,
    Chat,
    ChatModel,
    Gate,
    Message,
    RawRequest,
    Reply,
    Response,
    ToolCall,
)

__all__ = [
    "Answer", "Attempt", "CallError", "Chat", "ChatModel", "Gate", "Message", "RawRequest", "Reply",
    "Response", "ToolCall",
]  # fmt: skip
