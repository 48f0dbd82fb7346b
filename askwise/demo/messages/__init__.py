"""Messages to a shop that does not exist, written for the demonstrations, with their truth."""

from askwise.demo.messages.corpus import CONTENT, OPTIONS, Message, make_messages

__all__ = ["CONTENT", "OPTIONS", "Message", "make_messages"]
