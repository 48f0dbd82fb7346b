"""News of logs that have grown, for those who wait until a campaign goes on."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Literal

Told = Callable[[str | None], None]
"""Called with the name of a campaign; with None, the log of any campaign may have grown."""


class TellsNews(ABC):
    """A store that tells when the log of a campaign has grown.

    Attributes
    ----------
    reach : {"process", "store"}
        Whose writes are told of: those through this store object, or those of all processes.
    """

    reach: Literal["process", "store"] = "process"

    @abstractmethod
    def subscribe(self, told: Told) -> Callable[[], None]:
        """Have ``told`` called whenever a log has grown; returns what ends the subscription.

        It is called after the commit, by the thread that has written or by one of the store's own,
        so it must be quick. It may be called when nothing has changed, and late by a second.
        """


class News:
    """Passes news on within a process.

    Examples
    --------
    >>> news = News()
    >>> end = news.subscribe(print)
    >>> news.post("cats")
    cats
    >>> end()
    >>> news.post("cats")
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all: tuple[Told, ...] = ()

    def subscribe(self, told: Told) -> Callable[[], None]:
        """Have ``told`` called with each piece of news; returns what ends that."""
        with self._lock:
            self._all = (*self._all, told)

        def end() -> None:
            with self._lock:
                # By identity, and one only: the same function may have subscribed twice.
                kept = list(self._all)
                for at, each in enumerate(kept):
                    if each is told:
                        del kept[at]
                        break
                self._all = tuple(kept)

        return end

    def post(self, name: str | None) -> None:
        """Tell all who have subscribed."""
        for told in self._all:
            told(name)
