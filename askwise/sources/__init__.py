"""Sources: who answers questions. A program, a function, a model behind an endpoint, people."""

from askwise.sources.base import FAILURES, Failure, Outage, Question, Response, Source, sources

__all__ = ["FAILURES", "Failure", "Outage", "Question", "Response", "Source", "sources"]
