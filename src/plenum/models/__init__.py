"""Old names of version 0.2, found until version 0.5; :mod:`plenum.calls` has what stood here."""

from typing import TYPE_CHECKING

from plenum.base.moved import find_moved

if not TYPE_CHECKING:  # a type checker is to see that plenum's own code says the module
    __getattr__ = find_moved(__name__, {
        "calls.call_errors": "CallError",
        "calls.chat": "Answer Attempt Chat ChatModel Message Reply Response",
        "calls.conversation": "Ask Conversation ConversationFailed Entry Misread",
    })  # fmt: skip
