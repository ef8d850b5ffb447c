"""Claude Code in the browser: it reads in this folder by itself, and asks before it does anything else.

ANTHROPIC_API_KEY=… rejoinder serve --agent claude_agent:agent
"""

from claude_agent_sdk import ClaudeAgentOptions

from rejoinder.agents.claude_code import ClaudeCode

agent = ClaudeCode(ClaudeAgentOptions(allowed_tools=["Read", "Grep", "Glob"]), cwd=".")
