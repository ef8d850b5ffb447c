"""Claude Code: what its SDKs yield (`SDKMessage`), with partial messages and without."""

from rejoinder.translate.claude_code.translator import OWN, ClaudeCode

__all__ = ["OWN", "ClaudeCode"]
