from .api.answer_forms import note_refused_form as note_refused_form
from .api.backend import ApiBackend as ApiBackend
from .api.bodies import BodyReader as BodyReader
from .api.bodies import make_length_error as make_length_error
from .api.cache_marks import mark_messages as mark_messages
from .api.completions import ReportedError as ReportedError
from .api.completions import UnfitReply as UnfitReply
from .api.completions import parse_body as parse_body
from .api.completions import read_completion as read_completion
from .api.event_streams import parse_answer as parse_answer
from .api.exchanges import record_exchanges as record_exchanges
from .api.faults import NOT_SENT as NOT_SENT
from .api.faults import classify_connection as classify_connection
from .api.faults import classify_status as classify_status
from .api.interfaces import INTERFACES as INTERFACES
from .api.litellm_import import litellm as litellm
from .api.openai_http import make_headers as make_headers
from .api.openai_http import make_request as make_request
from .api.prices import Price as Price
from .api.prices import Prices as Prices
from .api.prices import explain_prices as explain_prices
from .api.routes import Route as Route
from .api.routes import find_provider as find_provider
from .api.routes import litellm_name as litellm_name
from .api.routes import make_forwarding_route as make_forwarding_route
from .api.routes import require_model_parameters as require_model_parameters
from .backends import build_backend as build_backend
from .backends import check_backends as check_backends
from .backends import make_retry_policy as make_retry_policy
from .backends import require_live_calls as require_live_calls
from .call_errors import CallError as CallError
from .chat import TOKENS_A_WORD as TOKENS_A_WORD
from .chat import WHOLE as WHOLE
from .chat import Answer as Answer
from .chat import AnswerSchema as AnswerSchema
from .chat import Attempt as Attempt
from .chat import Chat as Chat
from .chat import ChatModel as ChatModel
from .chat import Message as Message
from .chat import Reply as Reply
from .chat import Response as Response
from .chat import make_schema as make_schema
from .conversation import Ask as Ask
from .conversation import Conversation as Conversation
from .conversation import ConversationFailed as ConversationFailed
from .conversation import Entry as Entry
from .conversation import Misread as Misread
from .conversation import describe_reply as describe_reply
from .conversation import make_failure_entry as make_failure_entry
from .conversation import rebuild_reply as rebuild_reply
from .conversation import separate_reasoning as separate_reasoning
from .pace import Pace as Pace
from .pace import PacedBackend as PacedBackend
from .pace import TokenCounting as TokenCounting
from .raw_requests import RawRequest as RawRequest
from .raw_requests import ToolCall as ToolCall
from .retry import Policy as Policy
from .retry import call_with_retries as call_with_retries
from .simulated.backend import SimulatedBackend as SimulatedBackend
from .simulated.backend import read_prompt as read_prompt
from .simulated.opinion import draw_persona as draw_persona
from .simulated.opinion import measure_pull as measure_pull

__all__ = [
    "INTERFACES",
    "NOT_SENT",
    "TOKENS_A_WORD",
    "WHOLE",
    "Answer",
    "AnswerSchema",
    "ApiBackend",
    "Ask",
    "Attempt",
    "BodyReader",
    "CallError",
    "Chat",
    "ChatModel",
    "Conversation",
    "ConversationFailed",
    "Entry",
    "Message",
    "Misread",
    "Pace",
    "PacedBackend",
    "Policy",
    "Price",
    "Prices",
    "RawRequest",
    "Reply",
    "ReportedError",
    "Response",
    "Route",
    "SimulatedBackend",
    "TokenCounting",
    "ToolCall",
    "UnfitReply",
    "build_backend",
    "call_with_retries",
    "check_backends",
    "classify_connection",
    "classify_status",
    "describe_reply",
    "draw_persona",
    "explain_prices",
    "find_provider",
    "litellm",
    "litellm_name",
    "make_failure_entry",
    "make_forwarding_route",
    "make_headers",
    "make_length_error",
    "make_request",
    "make_retry_policy",
    "make_schema",
    "mark_messages",
    "measure_pull",
    "note_refused_form",
    "parse_answer",
    "parse_body",
    "read_completion",
    "read_prompt",
    "rebuild_reply",
    "record_exchanges",
    "require_live_calls",
    "require_model_parameters",
    "separate_reasoning",
]
