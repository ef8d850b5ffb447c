"""Open Harness: a runtime's events as a chat transport, and as an agent.

Chat(OpenHarnessChatTransport(runtime))
async for chunk in await transport.send_messages(chat_id="c1", messages=messages): ...
"""

from rejoinder.agents.open_harness.lines import LineRuntime
from rejoinder.agents.open_harness.runtime import Runtime, RuntimeStatus, StartableRuntime
from rejoinder.agents.open_harness.transport import OpenHarnessChatTransport, TransportOptions

__all__ = [
    "LineRuntime",
    "OpenHarnessChatTransport",
    "Runtime",
    "RuntimeStatus",
    "StartableRuntime",
    "TransportOptions",
]
