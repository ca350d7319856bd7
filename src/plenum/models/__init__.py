"""What version 0.2 had here is in :mod:`plenum.calls`; old names are found until version 0.5."""

from plenum.base.moved import find_moved

__getattr__ = find_moved(
    __name__,
    {
        "calls.call_errors": "CallError",
        "calls.chat": "Answer Attempt Chat ChatModel Message Reply Response",
        "calls.conversation": "Ask Conversation ConversationFailed Entry Misread",
    },
)
