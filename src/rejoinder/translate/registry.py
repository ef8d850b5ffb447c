"""Which vendors are understood, by name. A translator is imported when somebody asks for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from rejoinder.errors import RejoinderError
from rejoinder.translate.translation import Translator


class UnknownVendor(RejoinderError):
    """Nobody here understands events of that name."""

    code = "unknown-vendor"


def translator_of(name: str) -> Translator:
    """The translator of that name. Raises `UnknownVendor`, which lists the names there are."""
    find = TRANSLATORS.get(name)
    if find is None:
        raise UnknownVendor(f"no translator is called {name!r}: there are {', '.join(TRANSLATORS)}")
    return find()


def _claude_code() -> Translator:
    from rejoinder.translate.claude_code import ClaudeCode

    return ClaudeCode


def _openai_responses() -> Translator:
    from rejoinder.translate.openai_responses import OpenAIResponses

    return OpenAIResponses


def _openai_chat() -> Translator:
    from rejoinder.translate.openai_chat import OpenAIChat

    return OpenAIChat


def _anthropic() -> Translator:
    from rejoinder.translate.anthropic import Anthropic

    return Anthropic


def _open_harness() -> Translator:
    from rejoinder.translate.open_harness import OpenHarness

    return OpenHarness


def _pydantic_ai() -> Translator:
    from rejoinder.translate.pydantic_ai import PydanticAI

    return PydanticAI


def _langgraph() -> Translator:
    from rejoinder.translate.langgraph import LangGraph

    return LangGraph


def _openai_agents() -> Translator:
    from rejoinder.translate.openai_agents import OpenAIAgents

    return OpenAIAgents


def _ag_ui() -> Translator:
    from rejoinder.translate.ag_ui import AgUi

    return AgUi


def _model_stream() -> Translator:
    from rejoinder.translate.ai_sdk import ModelStream

    return ModelStream


def _chunk_stream() -> Translator:
    from rejoinder.translate.ai_sdk import ChunkStream

    return ChunkStream


TRANSLATORS: Final[Mapping[str, Callable[[], Translator]]] = MappingProxyType(
    {
        "claude-code": _claude_code,
        "openai-responses": _openai_responses,
        "openai-chat": _openai_chat,
        "anthropic": _anthropic,
        "open-harness": _open_harness,
        "pydantic-ai": _pydantic_ai,
        "langgraph": _langgraph,
        "openai-agents": _openai_agents,
        "ag-ui": _ag_ui,
        "ai-sdk-stream": _model_stream,
        "ai-sdk-ui": _chunk_stream,
    }
)
