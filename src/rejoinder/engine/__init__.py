"""Turns from claim to seal: history, agent, record, tools, approvals, stop. It names no store and no agent."""
