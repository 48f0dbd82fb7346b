"""Chat models behind any OpenAI-compatible endpoint."""

from askwise.sources.chat.source import Chat

__all__ = ["Chat"]
