"""What the writes of a group do to the state of a campaign, before anything is written down."""

import json
from collections.abc import Callable, Sequence

from askwise.campaign import requests
from askwise.campaign.cached import CachedState
from askwise.campaign.commits import Commit
from askwise.campaign.loading import Loaded
from askwise.campaign.requests import HalfDone, Overtaken, Request, Work
from askwise.campaign.spec import Spec
from askwise.campaign.state import CampaignState
from askwise.campaign.verbs import Verbs
from askwise.core.errors import StoreError
from askwise.core.events import Event
from askwise.store import Reply, Store

LONGEST_CHANGE = 60.0
"""Seconds that the change of an old answer may take, as the log is folded again from there."""


class WorkedState(CachedState):
    """The state of one campaign, and what the writes of a group do to it.

    Parameters
    ----------
    clock : callable
        Seconds now.
    later : callable
        How the saving of a snapshot is started, see :class:`CachedState`.
    """

    def __init__(
        self,
        store: Store,
        name: str,
        spec: Spec,
        clock: Callable[[], float],
        later: Callable[[Callable[[], None]], object] | None = None,
    ) -> None:
        super().__init__(store, name, spec, later)
        self.clock = clock
        self._released = 0
        """How many assignments the transaction under way has released as overdue."""

    def _known(self, asked: list[Request]) -> dict[str, Reply]:
        keys = keys_of(asked)
        return self.store.replies(self.name, keys) if keys else {}

    def _work(
        self,
        asked: list[Request],
        state: CampaignState,
        known: dict[str, Reply],
        work: Work,
        commit: Commit | None = None,
    ) -> None:
        """Act for all requests that are not refused, on a state at the end of the log.

        During a ``commit`` that is where the log will end.
        """
        now = self.clock()
        # What is overdue is released whether or not the requests are granted.
        expiry = Verbs(self.name, state, now, None)
        expiry.expire_overdue()
        work.events += expiry.events
        self._released = len(expiry.events)
        for request in asked:
            self._run(request, state, now, known, work, commit)

    def _run(
        self,
        request: Request,
        state: CampaignState,
        now: float,
        known: dict[str, Reply],
        work: Work,
        commit: Commit | None,
    ) -> None:
        """Do one write of a group; a refusal is the request's own affair."""
        write, key, before = request.write, request.write.key, state.seq
        try:
            if key in known:
                first = requests.reply_again(known[key], write.text)
                request.succeed(write.action.recall(state, first))
                return
            verbs = Verbs(self.name, state, now, key)
            verbs.refold = lambda events, prepared: self._refolded(
                [*work.events, *events], prepared, commit
            )
            found = write.action.act(verbs)
        except (StoreError, Overtaken):
            raise
        except Exception as error:
            if state.seq != before:
                raise HalfDone(error) from error
            request.fail(error)
            return
        kept = None if key is None else write.action.keep(found)
        if key is not None and kept is not None:
            known[key] = Reply(key, write.text, json.dumps(kept))
            work.kept.append(known[key])
        request.succeed(found)
        work.events += verbs.events

    def prepare(self, change: Event) -> Loaded:
        """Fold the log with a change of an answer that is about to follow.

        Nobody else waits for it: the write that follows has to fold only what was written
        meanwhile. TooLarge if it would take longer than ``LONGEST_CHANGE``.
        """
        return self._load(lambda: self.loader.refold([change], most=LONGEST_CHANGE))

    def _refolded(
        self, events: Sequence[Event], prepared: list[Loaded], commit: Commit | None
    ) -> CampaignState:
        """A state that has folded the log and these events, whose last is a change of an answer.

        What was ``prepared`` for it is used up. The log is read to its end, so a ``commit`` that is
        under way ends first.
        """
        if commit is not None:
            commit.ended(None)
            if commit.error is not None:
                raise Overtaken
        if prepared and prepared[0].state.seq >= events[0].seq:
            raise Overtaken
        loaded = self.loader.follow(events, prepared.pop() if prepared else None)
        self._saved = min(self._saved, loaded.saved)
        return loaded.state


def keys_of(asked: list[Request]) -> list[str]:
    """The keys of those that have one."""
    return [each.write.key for each in asked if each.write.key is not None]
