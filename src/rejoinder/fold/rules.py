"""What the reducers of AI SDK 5, 6 and 7 do differently, as one table."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from rejoinder.wire import chunks


class Rules(Struct, frozen=True, kw_only=True):
    """How one generation of the AI SDK folds chunks. Every field is a difference between generations."""

    sdk: int

    ignores: frozenset[type]
    """Chunk types that this generation has no handler for."""

    finish_step_closes: bool
    """`finish-step` forgets the text and reasoning parts that are open: a later delta has nowhere to go."""

    output_names_kind: bool
    """An output says by `dynamic` whether its call is dynamic; otherwise the call is found by its id alone."""

    keeps_tool_details: bool
    """Titles, tool metadata, input encodings and the provider metadata of results are kept."""

    keeps_file_metadata: bool
    """A file's provider metadata is kept."""

    invalid_input_is_input: bool
    """What a model called a static tool with, and the tool cannot take, is its `input` (else its `rawInput`)."""

    keeps_approval_details: bool
    """The reason for a request, and that it was answered automatically, are kept."""


_SEVEN_ONLY: Final = frozenset(
    {
        chunks.CustomChunk,
        chunks.ReasoningFileChunk,
        chunks.ResetStep,
        chunks.SteeringMessage,
        chunks.ToolApprovalResponse,
    }
)

RULES: Final = {
    5: Rules(
        sdk=5,
        ignores=_SEVEN_ONLY | {chunks.ToolApprovalRequest, chunks.ToolOutputDenied},
        finish_step_closes=True,
        output_names_kind=True,
        keeps_tool_details=False,
        keeps_file_metadata=False,
        invalid_input_is_input=False,
        keeps_approval_details=False,
    ),
    6: Rules(
        sdk=6,
        ignores=_SEVEN_ONLY,
        finish_step_closes=True,
        output_names_kind=False,
        keeps_tool_details=True,
        keeps_file_metadata=True,
        invalid_input_is_input=False,
        keeps_approval_details=False,
    ),
    7: Rules(
        sdk=7,
        ignores=frozenset(),
        finish_step_closes=False,
        output_names_kind=False,
        keeps_tool_details=True,
        keeps_file_metadata=True,
        invalid_input_is_input=True,
        keeps_approval_details=True,
    ),
}
"""The newest release of each generation. Ours is 7."""
