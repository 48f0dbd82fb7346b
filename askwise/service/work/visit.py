"""One request of a worker to their page: what they may do, and what they are told."""

import math
import time
from functools import cached_property
from typing import NamedTuple

from starlette.responses import Response

from askwise.campaign import Campaign
from askwise.campaign.views.assignments import assignment_id
from askwise.core import errors
from askwise.core.calls import LONGEST_REMARK
from askwise.core.choices import Assignment, Batch, Done, Wait
from askwise.core.money import to_micro
from askwise.core.problem import Problem
from askwise.service.auth.identity import Identity, csrf_token
from askwise.service.errors import forbidden, status_of
from askwise.service.incoming_request import IncomingRequest
from askwise.service.own_answers import changeable_answer, check_in_time
from askwise.service.pages.base import page
from askwise.service.pages.filters import money
from askwise.service.participants import StudyView, is_participant
from askwise.service.state import service_of
from askwise.service.work import sentences
from askwise.service.work.inbox import Inbox, askable, inbox, state_of
from askwise.service.work.payload import scrolls
from askwise.service.work.question import SKIP, question_view
from askwise.service.work.sides import is_swapped

MOST_READ = 5000
"""Events in which a last answer is looked for to offer its change; the change itself is taken
whatever has happened since.
"""


class LastAnswer(NamedTuple):
    """A worker's last answer, in the words of the page, and for how long they may change it."""

    question: Assignment
    swapped: bool
    words: str
    left: float

    @property
    def id(self) -> str:
        """The assignment's id."""
        return self.question.id


class Said(NamedTuple):
    """What a worker is told about what they just did, if anything."""

    words: str = ""
    tone: str = "good"
    status: int = 200


NOTHING = Said()


class WorkerVisit:
    """One request of a worker. Whatever they send twice happens once."""

    def __init__(self, request: IncomingRequest, name: str, worker: Identity) -> None:
        self.service = service_of(request)
        self.name = name
        self.token = worker
        assert worker.worker is not None
        self.worker = worker.worker

    @property
    def campaign(self) -> Campaign:
        return self.service.campaigns.get(self.name)

    @cached_property
    def problem(self) -> Problem:
        with self.campaign.reading() as state:
            return state.spec.problem

    def _is_asked_once(self) -> bool:
        with self.campaign.reading() as state:
            worker = state.ledger.workers[state.ledger.worker_at(self.worker)]
        return self.problem.asks_once(worker)

    # What they may do.

    def next(self, fields: dict[str, str]) -> Response:
        """Ask for them; replies with the question."""
        what, seen = fields.get("what", ""), _seen(fields)
        position = self.service.campaigns.store.position(self.name)
        if what in sentences.WAITS and seen == str(position):
            # Nothing has happened since they were told to wait: they wait for the same. Only who is
            # paid for having waited is not believed.
            own = inbox(self.campaign, self.worker, time.time())
            if not is_participant(own.source):
                return self.show(Wait(what), own=own)  # type: ignore[arg-type]
        return self.show(self._ask("at", seen))

    def answer(self, fields: dict[str, str]) -> Response:
        """Take their answer and ask the next; replies with the next question."""
        id = self._own(fields)
        value = self._meant(id, self._value(fields.get("value", "")))
        said = Said("Saved.")
        expires = self.campaign.assignment(id).assignment.expires
        if expires is not None and expires <= time.time():
            said = Said("Your answer came late, but was still accepted.", "warn")
        try:
            self.campaign.tell(id, value)
        except (errors.InvalidAnswer, errors.OverBudget) as error:
            if error.reason == "invalid_value":
                return self.show(None, Said(self._how_to_answer(), "bad", status_of(error)))
            said = self._not_taken(id, value, error)
        return self.show(self._ask("after", id.rpartition(":")[2]), said)

    def skip(self, fields: dict[str, str]) -> Response:
        """Take back a question that they do not want, for good, and ask the next."""
        id = self._own(fields)
        again = " It will not come again." if self._is_asked_once() else ""
        said = Said(f"Skipped.{again}")
        try:
            self.campaign.decline(id)
        except errors.Conflict as error:
            if error.reason not in sentences.RELEASED:
                raise
            said = NOTHING
        return self.show(self._ask("after", id.rpartition(":")[2]), said)

    def flag(self, fields: dict[str, str]) -> Response:
        """Note that a question can't be answered, and why, and ask the next."""
        id, why = self._own(fields), fields.get("why", "").replace("\r\n", "\n").strip()
        if not why or len(why) > LONGEST_REMARK:
            words = f"Say why it can’t be answered, in up to {LONGEST_REMARK} characters."
            return self.show(None, Said(words, "bad", 422))
        said = Said("Thank you: this question was reported.")
        try:
            self.campaign.flag(id, why)
        except errors.Conflict as error:
            if error.reason not in sentences.RELEASED:
                raise
            said = NOTHING
        return self.show(self._ask("after", id.rpartition(":")[2]), said)

    def change(self, fields: dict[str, str]) -> Response:
        """Put the question of their last answer to them once more; nothing is changed yet."""
        id = self._own(fields)
        last = self._last()
        if last is None or last.id != id:
            return self.show(None, self._stays("too_late"))
        return self.show(None, changing=last)

    def revise(self, fields: dict[str, str]) -> Response:
        """Take another answer in place of their last one."""
        id = self._own(fields)
        value = self._meant(id, self._value(fields.get("value", "")))
        try:
            within = self.service.settings.revise_within
            check_in_time(self.campaign, self.worker, id, time.time(), within)
            self.campaign.revise(id, value)
        except errors.InvalidAnswer as error:
            if error.reason != "invalid_value":
                raise
            said = Said(self._how_to_answer(), "bad", status_of(error))
            return self.show(None, said, changing=self._last())
        except errors.Conflict as error:
            return self.show(None, self._stays(error.reason))
        return self.show(None, Said("Your answer was changed."))

    def _stays(self, reason: str) -> Said:
        """Why an answer was not changed."""
        return Said(sentences.sentence_of(reason), "warn", 409)

    def _last(self) -> LastAnswer | None:
        """Their last answer, if they may change it now."""
        within, now = self.service.settings.revise_within, time.time()
        found = changeable_answer(self.campaign, self.worker, now, within, MOST_READ)
        if found is None:
            return None
        handed = self.campaign.assignment(assignment_id(self.name, found.assignment or 0))
        question = handed.assignment
        with self.campaign.reading() as state:
            swapped = is_swapped(state, question.task, self.worker)
        words = self._read_on_page(question.id, handed.value)
        return LastAnswer(question, swapped, words, found.time + within - now)

    def leave(self, fields: dict[str, str]) -> Response:
        """Let nobody ask them until they are back; what they have out may be asked again."""
        self.service.availability.set(self.name, self.worker, available=False, until=None)
        self.campaign.release(self.worker)
        return self.show(None)

    def come_back(self, fields: dict[str, str]) -> Response:
        """They are back: ask for them."""
        self.service.availability.set(self.name, self.worker, available=True, until=None)
        return self.show(self._ask("at", _seen(fields)))

    def bid(self, fields: dict[str, str]) -> Response:
        """Take the price that they name for an answer."""
        amount = fields.get("amount", "").strip()
        try:
            key = self._key(f"bid-{to_micro(amount, 'amount')}", _seen(fields))
            self.campaign.bid(self.worker, amount, key)
        except (errors.InvalidProblem, errors.Conflict) as error:
            tones = {"invalid_amount": "bad", "bidding_closed": "warn"}
            if error.reason not in tones:
                raise
            said = Said(sentences.sentence_of(error.reason), tones[error.reason], status_of(error))
            return self.show(None, said)
        return self.show(None, Said("Your price was saved."))

    def _ask(self, when: str, seen: str) -> Wait | Done | None:
        """Ask for them unless they have something out; the same form again asks the same."""
        found = askable(self.campaign, self.worker, time.time())
        if found is None:
            return None
        # Who is paid for having waited is told how it is now, never again what they were told then.
        key = None if is_participant(found.source) else self._key(when, seen)
        choice = self.campaign.ask_for_self(self.worker, self.service.settings.holding, key)
        return None if isinstance(choice, Batch) else choice

    # What they are told.

    def show(
        self,
        said: Wait | Done | None,
        about: Said = NOTHING,
        changing: LastAnswer | None = None,
        own: Inbox | None = None,
    ) -> Response:
        own = own or inbox(self.campaign, self.worker, time.time())
        offers = own.answers and own.joined and changing is None
        last = self._last() if offers else changing
        away = self.worker in self.service.availability.away(self.name)
        state = state_of(own, away=away, said=said)
        done = said if isinstance(said, Done) else None
        if state == "start":
            done = self.service.campaigns.view(self.name, "over", Campaign.over)[1]
            state = "start" if done is None else "over"
        study = self._study(own, state) if changing is None else None
        if study is not None and (study.code or study.closed):
            state, last = "finished" if study.code else "closed", None
        what = "resume" if own.paused or not isinstance(said, Wait) else said.what
        question, swapped = own.question, own.swapped
        if changing is not None:
            state, question, swapped = "change", changing.question, changing.swapped
        payload = None if question is None else question.payload
        view = question_view(self.campaign.content, own.options, payload, swapped=swapped)
        return page(
            "work/inbox.html",
            status=about.status,
            allow={"img-src": f"'self' {view.sources}"} if view.sources else None,
            campaign=self.name,
            own=own,
            state=state,
            about=about,
            question=question,
            last=last,
            study=study,
            view=view,
            skip=SKIP,
            scrolls=scrolls,
            money=lambda amount: f"{money(amount)} {view.currency}".rstrip(),
            what=what,
            wait=sentences.wait_of(what),
            end=sentences.end_of("stopped" if own.stopped else "" if done is None else done.why),
            suspended=sentences.SUSPENDED.get(own.standing.suspended_for or "", ""),
            warning=sentences.WARNED if own.standing.state == "warned" else "",
            left="" if own.left is None else _words_of(own.left),
            bonuses=self.campaign.bonuses(self.worker) if own.bonus else (),
            csrf=csrf_token(self.token.secret),
        )

    def _study(self, own: Inbox, state: str) -> StudyView | None:
        """What is said of the study on Prolific to somebody who came from there."""
        if not is_participant(own.source):
            return None
        participants = self.service.participants
        session = participants.session(self.campaign, self.worker)
        if session is None:
            return None
        return participants.view(self.campaign, session, state, time.time())

    def _not_taken(self, id: str, value: str | float, error: errors.AskwiseError) -> Said:
        """Why an answer was not taken; one that was given before simply stays."""
        if error.reason == "assignment_answered":
            given = self.campaign.assignment(id).value
            if given == value:
                return NOTHING
            first = self._read_on_page(id, given)
            return Said(f"You had answered that already, with “{first}”: that stays.", "warn")
        if error.reason == "assignment_declined":
            return Said(sentences.sentence_of(error.reason), "warn")
        said = sentences.sentence_of(error.reason)
        if error.reason in sentences.TOO_LATE:
            why = sentences.words_of(error.reason)
            said = f"Your answer came too late and could not be accepted: {why}."
        return Said(said, "warn", status_of(error))

    def _how_to_answer(self) -> str:
        if self.problem.options:
            return "That is not one of the answers: choose one of these."
        low, high = self.problem.range
        return f"That is not a number from {low:g} to {high:g}: give one."

    def _value(self, sent: str) -> str | float:
        """What they sent, as the campaign takes it: an option, or a number."""
        if self.problem.options:
            return sent
        try:
            return float(sent)
        except ValueError:
            return sent

    def _meant(self, id: str, value: str | float) -> str | float:
        """The option that is meant by the one they chose, where sides were swapped for them.

        To swap back is the same: it also gives the option that they chose for one that is meant.
        """
        content = self.campaign.content
        if content is None or value not in content.names():
            return value
        task = self.campaign.assignment(id).assignment.task
        with self.campaign.reading() as state:
            swapped = is_swapped(state, task, self.worker)
        return content.unswapped(str(value)) if swapped else value

    def _read_on_page(self, id: str, given: str | float | None) -> str:
        """An answer in the words of the button, or the number, that gave it."""
        if not isinstance(given, str):
            return f"{given:g}"
        chosen, content = self._meant(id, given), self.campaign.content
        labels = {} if content is None else {each.name: each.label for each in content.options}
        return labels.get(str(chosen), str(chosen))

    def _own(self, fields: dict[str, str]) -> str:
        """The assignment that a form is about, which must be theirs."""
        id = fields.get("assignment", "")
        try:
            if self.campaign.assignment(id).assignment.worker == self.worker:
                return id
        except errors.UnknownName:
            pass
        raise forbidden("this question is not yours: go back to your own", "not_yours")

    def _key(self, what: str, seen: str) -> str | None:
        """A retry's key for what a form asks for, which was made at this position of the log."""
        # Their token's own, so that nobody is answered with another's reply.
        return f"{self.token.id}:page:{what}-{seen}" if seen else None


def _seen(fields: dict[str, str]) -> str:
    """The position of the log that a form was made at."""
    seen = fields.get("seen", "")
    return seen if seen.isascii() and seen.isdecimal() and len(seen) < 20 else ""


def _words_of(seconds: float) -> str:
    """A time that is left, in words.

    Examples
    --------
    >>> [_words_of(each) for each in (5.2, 65, 3600, 90061)]
    ['6 s', '1 min 5 s', '60 min', '25 h 1 min']
    """
    whole = max(0, math.ceil(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 120:
        return f"{minutes} min {rest} s" if rest and minutes < 60 else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"
