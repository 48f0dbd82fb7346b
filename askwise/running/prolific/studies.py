"""A study is made from a campaign: kept here first, then drafted, then published on Prolific."""

import secrets
from typing import Any
from urllib.parse import urlsplit

from askwise.campaign import Campaign
from askwise.core.errors import Conflict, InvalidParameter, OverBudget
from askwise.core.money import from_micro, to_micro
from askwise.core.problem import Worker
from askwise.policies import FixedWorkers
from askwise.running.prolific.records import ENDED, KeptStudy, StudyBook
from askwise.running.prolific.reviewing import APPROVED, UNDER_WAY, WAITING
from askwise.running.prolific.standing import owed_to
from askwise.sources.prolific import Prolific, ProlificApi, ProlificUnclear
from askwise.sources.prolific.api import MINOR

SIGNS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""What completion codes are written in: nothing that is mistaken for something else."""

CODE = 10
"""Characters of a completion code."""


def participant(source: Prolific, id: str, answered: int = 0) -> Worker:
    """A participant as a worker, who may answer this many more questions."""
    return Worker(
        id,
        source.price,
        limit=answered + source.questions,
        kind="person",
        source=source.signature(),
    )


def unspent(campaign: Campaign) -> int:
    """Millionths of the budget that are spent on nothing and reserved for nobody."""
    with campaign.reading() as state:
        return max(0, state.ledger.unspent)


def create_study(campaign: Campaign, source: Prolific, address: str, api: ProlificApi) -> KeptStudy:
    """Draft a study for a campaign on Prolific; nobody sees it and nothing is paid yet.

    Killed on the way and called again, it goes on with the same study.

    Parameters
    ----------
    source : Prolific
        What it offers.
    address : str
        Where participants reach the service, as ``https://ask.example.org``.
    api : ProlificApi
        Prolific.

    Raises
    ------
    Conflict
        The campaign has a study that is not over or not settled, or can't take newcomers.
    OverBudget
        The budget can't pay the places that it begins with.
    """
    book = StudyBook(campaign.store, campaign.name)
    known = book.latest()
    if known is not None and not known.ended:
        if known.study and _is_complete(api, known.study):
            known = book.change_study(known.number, ended=True)
        elif known.study:
            raise Conflict(
                f"campaign {campaign.name!r} has the study {known.study} already: run it to its "
                "end, or stop it, before you make another",
                field="name",
            )
    if known is not None and not known.ended:
        # It was kept, and nothing else is certain.
        if _found(api, known.marker) is None:
            _check(campaign, source, address)
            known = book.change_study(known.number, terms=_terms(source))
        return draft(book, known, address, api, _currency(campaign))
    if known is not None:
        _check_settled(campaign, book, known, api)
    _check(campaign, source, address)
    door = secrets.token_urlsafe(24)
    number = 1 if known is None else known.number + 1
    study = KeptStudy(
        campaign=campaign.name,
        number=number,
        door=door,
        code="".join(secrets.choice(SIGNS) for _ in range(CODE)),
        marker=f"askwise {campaign.name} {number} {secrets.token_hex(4)}",
        terms=_terms(source),
    )
    if not book.keep_study(study):
        raise Conflict(
            f"a study of campaign {campaign.name!r} is being made by another process",
            field="name",
            reason="already_running",
        )
    return draft(book, study, address, api, _currency(campaign))


def draft(
    book: StudyBook, study: KeptStudy, address: str, api: ProlificApi, currency: str
) -> KeptStudy:
    """Make sure that a study is on Prolific, once, and keep its id."""
    found = _found(api, study.marker)
    if found is None:
        try:
            found = api.create_study(fields_of(study, address))
        except ProlificUnclear:
            found = _found(api, study.marker)
            if found is None:
                raise
    paid_in = str(found.get("currency_code") or found.get("presentment_currency_code") or "")
    if currency and paid_in and currency != paid_in:
        raise Conflict(
            f"the campaign's currency is {currency}, but the study is paid in {paid_in}: its draft "
            "is left unpublished; use the account's currency in the campaign's content",
            field="currency",
        )
    return book.change_study(study.number, study=str(found["id"]))


def fields_of(study: KeptStudy, address: str) -> dict[str, Any]:
    """A study as Prolific's API takes it."""
    source = study.source
    ids = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
    query = "&".join(f"{id}={{{{%{id}%}}}}" for id in ids)
    action = {"action": "MANUALLY_REVIEW"}
    return {
        "device_compatibility": ["desktop", "tablet", "mobile"],
        "peripheral_requirements": [],
        "filters": [],
        **source.extra,
        "name": source.title,
        "internal_name": study.marker,
        "description": source.description,
        "external_study_url": f"{address.rstrip('/')}/prolific/{study.door}?{query}",
        "prolific_id_option": "url_parameters",
        "completion_codes": [{"code": study.code, "code_type": "COMPLETED", "actions": [action]}],
        "total_available_places": source.places,
        "estimated_completion_time": source.minutes,
        "reward": source.base // MINOR,
        "submissions_config": {"max_submissions_per_participant": 1},
    }


def _found(api: ProlificApi, marker: str) -> dict[str, Any] | None:
    """The study that was made for this marker, if it was."""
    for each in api.studies():
        if each.get("internal_name") == marker:
            return each
    return None


def _is_complete(api: ProlificApi, study: str) -> bool:
    return str(api.study(study).get("status")).upper() == "COMPLETED"


def _check_settled(campaign: Campaign, book: StudyBook, study: KeptStudy, api: ProlificApi) -> None:
    """Refuse another study while this one has to be looked at: only the newest is."""
    sessions, owed = book.sessions(), owed_to(campaign)
    left = [f"batch {each.number} of bonuses" for each in book.batches() if each.state not in ENDED]
    for each in api.submissions(study.study):
        session = sessions.get(each.id)
        waits = each.status in UNDER_WAY or each.status == WAITING
        if session is not None and each.status == APPROVED:
            waits = not session.booked or owed.get(session.worker, 0) >= MINOR
        if waits:
            left.append(f"submission {each.id}")
    if left:
        raise Conflict(
            f"the study {study.study} of campaign {campaign.name!r} is not settled: {len(left)} "
            f"wait to be finished, reviewed or paid, such as {left[0]}; run it until nothing is "
            "left, before you make another",
            field="name",
        )


def _terms(source: Prolific) -> dict[str, Any]:
    money = {
        name: str(from_micro(to_micro(getattr(source, name), name))) for name in ("reward", "price")
    }
    names = ("title", "description", "minutes", "questions", "places", "step", "most", "slots")
    return {name: getattr(source, name) for name in names} | money | {"extra": dict(source.extra)}


def _currency(campaign: Campaign) -> str:
    """The campaign's currency, if it is said by a code that Prolific's can be compared with."""
    said = "" if campaign.content is None else campaign.content.currency
    return said if len(said) == 3 and said.isascii() and said.isupper() else ""


def _check(campaign: Campaign, source: Prolific, address: str) -> None:
    """Refuse what would only come out when the first participant lands."""
    source.check_told()
    parts = urlsplit(address)
    local = parts.hostname in ("127.0.0.1", "localhost")
    if not parts.hostname or (parts.scheme != "https" and not local):
        raise InvalidParameter(
            f"address is {address!r}: give the address at which participants reach the service, "
            "with https://",
            field="address",
        )
    with campaign.reading() as state:
        policy, ledger = state.spec.policy, state.ledger
        if isinstance(policy, FixedWorkers) or state.bidding:
            raise Conflict(
                f"policy {policy.name!r} accepts nobody new after the start, or workers bid: "
                "participants can't join this campaign",
                field="policy",
                reason="no_newcomers",
            )
        policy.check_worker(participant(source, "0" * 24))
        left = max(0, ledger.unspent)
    fits = left // source.most_for_one
    if fits < source.places:
        raise OverBudget(
            f"places is {source.places}, and each may cost {from_micro(source.most_for_one)}: the "
            f"budget has {from_micro(left)} left, for {fits}; give fewer, or top it up",
            field="places",
        )
