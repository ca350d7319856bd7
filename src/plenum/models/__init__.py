"""Models: one contract for whatever answers prompts, and the backends that fulfil it."""

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
