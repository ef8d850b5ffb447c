"""LangGraph: what `astream` yields, versions 1 and 2, in all its modes; and the chunks of a LangChain model."""

from rejoinder.translate.langgraph.translator import LangGraph

__all__ = ["LangGraph"]
