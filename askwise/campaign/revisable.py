"""Answers that can be changed after they were given."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from askwise.campaign import revising
from askwise.campaign.handing_over import HandingCampaign
from askwise.campaign.loading import Loaded
from askwise.campaign.preparing import prepared
from askwise.campaign.requests import Action
from askwise.campaign.settling import valid_answer
from askwise.campaign.verbs import Verbs
from askwise.core.calls import check_by, check_remark
from askwise.core.errors import AskwiseError
from askwise.core.events import Event, Kind

YET_TO_COME = 2**62
"""Stands for the place of a change in the log before it has one: after all that is there."""


class RevisableCampaign(HandingCampaign):
    """A campaign whose answers can be changed and taken back."""

    def revise(
        self,
        assignment_id: str,
        value: float | str,
        *,
        probabilities: Mapping[str, float] | None = None,
        rationale: str | None = None,
        reference: str | None = None,
        by: str | None = None,
        key: str | None = None,
    ) -> None:
        """Change an answer: from now on the campaign is as if it had been given so from the start.

        The log keeps both (event REVISED), and what was decided in between. A task that was closed
        stays closed; what it was closed with is decided again. Money does not move. The same value
        again, with nothing else said, changes nothing; an answer that was withdrawn counts again.
        With screening a gold question counts as it is answered now, and the worker is judged again;
        verdicts from before stay until :meth:`Campaign.reinstate`.
        Refused where the campaign was stopped, where workers bid, where the answer was taken as a
        truth, and once the task's label was frozen for an audit. The log is folded again from
        before the answer: a second for a hundred thousand answers with compiled kernels (``askwise
        warm POLICY``). Where it would take more than a minute, it is refused (TooLarge).

        Parameters
        ----------
        value : str or float
            An option, or a number in the campaign's range.
        probabilities, rationale, reference : optional
            As :meth:`Campaign.tell` takes them; those of the answer before go with it.
        by : str, optional
            Who changes it, if that is not the worker.
        key : str, optional
            A retry with the same key changes nothing.
        """
        seq = self._seq_of(assignment_id)
        said: dict[str, Any] = {"assignment": seq, "value": self._answer(value)}
        said |= self._beside(probabilities, rationale, reference)
        self._change(Kind.REVISED, said, by, key)

    def withdraw(
        self, assignment_id: str, why: str, *, by: str | None = None, key: str | None = None
    ) -> None:
        """Take an answer back: there is no vote, and what was paid stays paid.

        From now on the campaign is as if the call had failed: the pair is not offered again. The
        log has the reason (event WITHDRAWN). Refused where :meth:`revise` is.
        """
        said = {"assignment": self._seq_of(assignment_id), "why": check_remark(why, "why")}
        self._change(Kind.WITHDRAWN, said, by, key)

    def _change(self, kind: Kind, said: dict[str, Any], by: str | None, key: str | None) -> None:
        if by is not None:
            said["by"] = check_by(by)
        verb, loaded = "revise" if kind == Kind.REVISED else "withdraw", list[Loaded]()
        act = getattr(Verbs, verb)
        action = Action(partial(act, prepared=loaded, **said), lambda _: {}, lambda _, kept: None)
        write = prepared(verb, said, key, action)
        if self._is_change(said):
            asked, value = said["assignment"], said.get("value")
            # While others go on: to fold a long log takes its time.
            change = Event(kind, seq=YET_TO_COME, assignment=asked, value=value)
            loaded.append(self._writer.prepare(change))
        self._writer.write(write)

    def _is_change(self, said: dict[str, Any]) -> bool:
        """Whether it would change an answer now; what is refused is refused by the write."""
        with self.reading() as state:
            try:
                at = revising.changeable(self.name, state, said["assignment"])
                value = valid_answer(state, said["value"]) if "value" in said else None
                return revising.changes(state, at, value)
            except AskwiseError:
                return False
