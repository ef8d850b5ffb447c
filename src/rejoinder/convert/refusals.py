"""Why a request is refused although it could be read: one class for each thing that its sender can do about it."""

from __future__ import annotations

from rejoinder.errors import RejoinderError


class Refused(RejoinderError):
    """The request was understood and is not accepted. Nothing was written. The subclasses say what to do."""

    code = "refused"


class UnacceptableMessage(Refused):
    """A client may not send a message like this one. Send a message of the user, with text or files."""

    code = "unacceptable-message"


class MessageTooLarge(Refused):
    """A message, a part or a file is larger than we take. Send less."""

    code = "message-too-large"


class UnacceptableFile(Refused):
    """A file is not what it says, or its URL is none that we pass on. Mend the file part."""

    code = "unacceptable-file"


class BlockedUrl(Refused):
    """A URL leads to a private place of some network. Send a public address, or the file itself."""

    code = "url-blocked"


class MessageIdReused(Refused):
    """The id is that of another message. Give a new message an id of its own."""

    code = "message-id-reused"


class NothingToContinue(Refused):
    """No call of that message waits for an answer. Send a message of the user instead."""

    code = "nothing-to-continue"


class CallNotOpen(Refused):
    """The tool call is not there, or is answered already, or its turn is over. Read the conversation again."""

    code = "call-not-open"


class ToolNotClient(Refused):
    """The tool is the server's: a client cannot answer for it."""

    code = "tool-not-client"


class NoSuchApproval(Refused):
    """Nobody asked whether that call may run. Read the conversation again."""

    code = "no-such-approval"


class InvalidApproval(Refused):
    """The answer is to another question: its id, signature, tool or input differs from what was asked."""

    code = "approval-invalid"


class ApprovalDecided(Refused):
    """The question was answered before, and otherwise. Read the conversation again."""

    code = "approval-decided"
