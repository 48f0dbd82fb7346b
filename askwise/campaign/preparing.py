"""Writes that are prepared: their arguments are checked, and they wait for their transaction."""

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from numbers import Real
from typing import Any, TypeVar

from askwise.campaign.holding import Holding
from askwise.campaign.reading import ReadableCampaign
from askwise.campaign.requests import Action, PreparedWrite, check_key
from askwise.campaign.verbs import Verbs
from askwise.campaign.views.assignments import recalled
from askwise.core.calls import (
    LONGEST_RATIONALE,
    LONGEST_REFERENCE,
    FailureWhy,
    check_failure,
    check_probabilities,
    check_remark,
    check_said,
)
from askwise.core.choices import Batch, Done, Wait
from askwise.core.errors import AskwiseError, InvalidAnswer, InvalidProblem
from askwise.core.fields import as_name
from askwise.core.money import Amount, to_micro
from askwise.core.problem import listed
from askwise.core.text import check_text
from askwise.store.json_text import json_encoder

T = TypeVar("T")

_canonical = json_encoder(separators=(", ", ": "), sort_keys=True, allow_nan=True, default=str)
"""As in every store so far: a retry is known by this text."""

_NAMES = {"task", "worker", "option"}
"""Arguments of verbs that are ids."""

_NUMBERS = frozenset((int, float, bool, type(None)))

_REFUSALS: dict[str, type[AskwiseError]] = dict.fromkeys(
    (
        *("tell", "revise", "withdraw", "fail", "truth", "truths", "set_label"),
        *("flag", "comment"),
    ),
    InvalidAnswer,
)
"""What is raised if a verb is given text that no store can keep."""


class PreparingCampaign(ReadableCampaign):
    """A campaign whose frequent verbs can be prepared by one thread and committed by another.

    ``asking`` prepares what ``ask`` does, ``telling`` what ``tell`` does, and so on; they raise the
    same errors about their arguments. :meth:`submit` hands a prepared write to the crew that the
    campaign was opened with.
    """

    def submit(self, write: PreparedWrite[Any], waiter: object) -> None:
        """Queue a write and return at once; the crew tells ``waiter`` the result."""
        self._writer.submit(write, waiter)

    def asking(
        self,
        limit: int = 1,
        workers: Iterable[str] | None = None,
        key: str | None = None,
        *,
        away: Collection[str] = (),
        patient: bool = False,
        holding: Holding | None = None,
    ) -> PreparedWrite[Batch | Wait | Done]:
        """Prepare to decide whom to ask; without ``workers``, everyone but those ``away``.

        Who is away may change between a request and its retry, which is the same request. One that
        is ``patient`` is sent again if it finds that it has to wait, which is not kept for its key.
        ``holding`` limits what the ``workers`` may have out, and for how long.
        """
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
            raise InvalidProblem(f"limit is {limit!r}: give a whole number from 1", field="limit")
        offered = None if workers is None else _offered(workers)
        action: Action[Batch | Wait | Done] = Action(
            lambda verbs: verbs.ask(limit, offered, away, holding),
            lambda choice: None if patient and isinstance(choice, Wait) else choice.to_json(),
            recalled,
        )
        return prepared("ask", {"limit": limit, "workers": offered}, key, action)

    def telling(
        self,
        assignment_id: str,
        value: float | str,
        key: str | None = None,
        *,
        cost: Amount | None = None,
        probabilities: Mapping[str, float] | None = None,
        rationale: str | None = None,
        reference: str | None = None,
    ) -> PreparedWrite[None]:
        """Prepare to hand in an answer."""
        seq = self._seq_of(assignment_id)
        said: dict[str, Any] = {"assignment": seq, "value": self._answer(value)}
        if cost is not None:
            said["cost"] = to_micro(cost, "cost")
        said |= self._beside(probabilities, rationale, reference)
        return self._doing("tell", key, Verbs.tell, **said)

    def _answer(self, value: float | str) -> float | str:
        """An answer as a request has it: one number is one request, however it is typed."""
        if self._spec.problem.options:
            return as_name(value)
        if type(value) is float:
            return value
        return float(value) if isinstance(value, Real) and not isinstance(value, bool) else value

    def _beside(
        self,
        probabilities: Mapping[str, float] | None,
        rationale: str | None,
        reference: str | None,
    ) -> dict[str, Any]:
        """What is said beside an answer, checked.

        What is not said is not in the request: a retry of an older version's is the same.
        """
        said: dict[str, Any] = {}
        if probabilities is not None:
            options = self._spec.problem.options
            said["probabilities"] = check_probabilities(probabilities, options)
        if rationale is not None:
            said["rationale"] = check_said(rationale, "rationale", LONGEST_RATIONALE)
        if reference is not None:
            said["reference"] = check_said(reference, "reference", LONGEST_REFERENCE)
        return said

    def failing(
        self,
        assignment_id: str,
        why: FailureWhy,
        cost: Amount = "0",
        reference: str | None = None,
        key: str | None = None,
    ) -> PreparedWrite[None]:
        """Prepare to hand in that a call brought no answer."""
        said: dict[str, Any] = {"assignment": self._seq_of(assignment_id)}
        said |= {"why": check_failure(why), "cost": to_micro(cost, "cost")}
        if reference is not None:
            said["reference"] = check_said(reference, "reference", LONGEST_REFERENCE)
        return self._doing("fail", key, Verbs.fail, **said)

    def expiring(self, assignment_id: str, key: str | None = None) -> PreparedWrite[None]:
        """Prepare to release an assignment."""
        return self._doing("expire", key, Verbs.expire, assignment=self._seq_of(assignment_id))

    def renewing(self, assignment_id: str, key: str | None = None) -> PreparedWrite[None]:
        """Prepare to restart an assignment's lease."""
        return self._doing("renew", key, Verbs.renew, assignment=self._seq_of(assignment_id))

    def declining(self, assignment_id: str, key: str | None = None) -> PreparedWrite[None]:
        """Prepare to turn an assignment down."""
        return self._doing("decline", key, Verbs.decline, assignment=self._seq_of(assignment_id))

    def flagging(self, assignment_id: str, why: str, key: str | None = None) -> PreparedWrite[None]:
        """Prepare to say that a task can't be answered."""
        said = {"assignment": self._seq_of(assignment_id), "why": check_remark(why, "why")}
        return self._doing("flag", key, Verbs.flag, **said)

    def _doing(
        self, verb: str, key: str | None, act: Callable[..., None], **arguments: Any
    ) -> PreparedWrite[None]:
        """Prepare a write that returns nothing."""
        for name in _NAMES & arguments.keys():
            arguments[name] = as_name(arguments[name])
        action = Action(partial(act, **arguments), lambda _: {}, lambda _, kept: None)
        return prepared(verb, arguments, key, action)

    def _do(self, verb: str, key: str | None, act: Callable[..., None], **arguments: Any) -> None:
        self._writer.write(self._doing(verb, key, act, **arguments))


def prepared(
    verb: str, arguments: dict[str, Any], key: str | None, action: Action[T]
) -> PreparedWrite[T]:
    """Prepare a write; its verb and arguments tell it from others with the same key."""
    if key is not None:
        if not isinstance(key, str) or not 0 < len(key) <= 200:
            raise InvalidProblem(f"key is {key!r}: give 1 to 200 characters", field="key")
        check_key(key)
    elif all(map(_is_plain, arguments.values())):
        # Nobody looks for it, and there is nothing in it to refuse.
        return PreparedWrite("", None, action)
    refusal = _REFUSALS.get(verb, InvalidProblem)
    try:
        request = _canonical([verb, arguments])
    except RecursionError:
        raise refusal(
            f"what {verb} is given contains itself, or is nested too deep: give plain JSON values"
        ) from None
    check_text(request, arguments, refusal)
    return PreparedWrite(request, key, action)


def _is_plain(value: object) -> bool:
    """Whether it is plain to see that every store can keep a value: a number, or simple text."""
    kind = type(value)
    return kind in _NUMBERS or (kind is str and value.isascii() and value.isprintable())  # type: ignore[attr-defined]


def _offered(workers: Iterable[str]) -> list[str]:
    found = [as_name(worker) for worker in listed(workers, "workers")]
    for worker in found:
        if not isinstance(worker, str):
            raise InvalidProblem(
                f"workers names {worker!r}: give a list of worker ids", field="workers"
            )
    return sorted(set(found))
