"""How a provider can fail, one class for each thing that a caller can do about it.

The codes are those that `translate` gives to errors inside of a stream, so that a failure has the same name wherever
it was met. No message holds what looks like a key.
"""

from __future__ import annotations

from typing import ClassVar, Final

from rejoinder.ports.agents import AgentError
from rejoinder.translate.failures import (
    BUSY,
    CONTENT,
    CREDENTIALS,
    CUT_OFF,
    GARBLED,
    OTHER,
    QUOTA,
    REJECTED,
    STALLED,
    TOO_LONG,
    UNAVAILABLE,
    UNKNOWN_MODEL,
    Failure,
    failure_of,
    without_secrets,
)
from rejoinder.translate.notes import Failed


class ProviderError(AgentError):
    """The provider failed, and says nothing that we know of. The message holds its words."""

    code = OTHER.code
    failure: ClassVar[Failure] = OTHER

    def __init__(self, message: str, *, provider: str, user_text: str | None = None) -> None:
        text = self.failure.user_text if user_text is None else user_text
        super().__init__(f"{provider}: {without_secrets(message)}", user_text=text, provider=provider)


class ProviderBusy(ProviderError):
    """Too many requests, or too much load, also after all retries. Wait, or ask for a higher limit."""

    code = BUSY.code
    failure = BUSY


class ProviderContent(ProviderError):
    """The provider's filter did not let the request or the answer pass. Ask differently."""

    code = CONTENT.code
    failure = CONTENT


class ProviderCredentials(ProviderError):
    """There is no key, or it is not accepted. Set it in the environment, or pass `api_key`."""

    code = CREDENTIALS.code
    failure = CREDENTIALS


class ProviderCutOff(ProviderError):
    """The connection ended before the answer did. What came is kept; ask again."""

    code = CUT_OFF.code
    failure = CUT_OFF


class ProviderGarbled(ProviderError):
    """The stream holds something that is no JSON. It is kept as it came; ask again."""

    code = GARBLED.code
    failure = GARBLED


class ProviderQuota(ProviderError):
    """The account has no credit left. See to it at the provider."""

    code = QUOTA.code
    failure = QUOTA


class ProviderRejected(ProviderError):
    """The provider does not take the request. The message says why; it is a fault in the settings or the history."""

    code = REJECTED.code
    failure = REJECTED


class ProviderStalled(ProviderError):
    """Nothing came for so long that nothing will. Ask again, or allow more with `idle_seconds`."""

    code = STALLED.code
    failure = STALLED


class ProviderTooLong(ProviderError):
    """The request is longer than the model can read. Give it a smaller history budget."""

    code = TOO_LONG.code
    failure = TOO_LONG


class ProviderUnavailable(ProviderError):
    """The provider cannot be reached, or is broken, also after all retries. Try later."""

    code = UNAVAILABLE.code
    failure = UNAVAILABLE


class ProviderUnknownModel(ProviderError):
    """There is no such model, or not for this key. Look at its name and at `base_url`."""

    code = UNKNOWN_MODEL.code
    failure = UNKNOWN_MODEL


_CLASSES: Final = {
    kind.failure.code: kind
    for kind in (
        ProviderBusy,
        ProviderContent,
        ProviderCredentials,
        ProviderCutOff,
        ProviderGarbled,
        ProviderQuota,
        ProviderRejected,
        ProviderStalled,
        ProviderTooLong,
        ProviderUnavailable,
        ProviderUnknownModel,
    )
}


def error_for(message: str, *names: str, provider: str, status: int | None = None) -> ProviderError:
    """The error for an answer of that HTTP status, by its vendor's names for it (code, type)."""
    kind = _CLASSES.get(failure_of(*names, status=status).code, ProviderError)
    said = message if status is None else f"{message} (HTTP {status})"
    return kind(said, provider=provider)


def error_of(failed: Failed, *, provider: str) -> ProviderError:
    """The error for an ending that a translator noted."""
    kind = _CLASSES.get(failed.error.code or "", ProviderError)
    return kind(failed.error.message, provider=provider, user_text=failed.error_text)
