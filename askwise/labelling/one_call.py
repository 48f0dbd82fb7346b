"""Items in, labels out: the whole job in one call."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from askwise.core.certify import CertifyTerms
from askwise.core.content import Content
from askwise.core.money import Amount
from askwise.core.problem import Worker
from askwise.data.orders import read_order
from askwise.labelling.job import NAME, LabelJob
from askwise.labelling.orders import with_judges
from askwise.labelling.result import LabelResult
from askwise.labelling.watching import LabelWatch
from askwise.sources import Source
from askwise.sources.cache import StoreCache
from askwise.sources.judges import Judge
from askwise.store import Store, open_store


def label(
    items: Any,
    *,
    question: str | None = None,
    options: str | Iterable[Any] | None = None,
    content: Content | Mapping[str, Any] | None = None,
    title: str = "",
    instructions: str = "",
    text: str | Sequence[str] | None = None,
    pair: Sequence[str] | None = None,
    id: str | None = None,
    truth: str | None = None,
    judges: str | os.PathLike[str] | Iterable[Judge | Mapping[str, Any]] | None = None,
    people: str | os.PathLike[str] | Iterable[Worker | Mapping[str, Any]] | None = None,
    sources: Mapping[str, Source] | None = None,
    budget: Amount | None = None,
    target_error: float | None = None,
    certify: float | CertifyTerms | Mapping[str, Any] | None = None,
    by: str | Iterable[str] | None = None,
    escalate: bool = False,
    policy: str | Mapping[str, Any] = "auto",
    pilot: int | None = None,
    store: str | Store = "memory",
    name: str = NAME,
    resume: bool = False,
    seed: int | None = None,
    watch: LabelWatch | None = None,
) -> LabelResult:
    """Label items with model judges, programs and people, within a budget.

    Everything is checked before anything is spent. The campaign is the state: with a store that
    outlives the process, call it again with ``resume=True`` to go on where it was, and nothing is
    paid twice.

    Parameters
    ----------
    items : path, iterable or data frame
        A CSV, JSON Lines or Parquet file; texts; or mappings of columns to values.
    question : str
        What is asked about each item.
    options : sequence, or str
        The possible labels: names, or mappings with ``name``, ``label`` and ``meaning``; in one
        text, separated by commas.
    content : Content or mapping, optional
        Question, options and more, in place of both.
    title, instructions : str
        What it is about, and how to judge, in Markdown.
    text : str or sequence of str, optional
        The columns that are shown; found if not given.
    pair : (str, str), optional
        Two columns that are compared. The first option names the first of them, the second option
        the second.
    id, truth : str, optional
        The columns that hold the items' ids, and the truth of some of them.
    judges : path or iterable of Judge or mapping, optional
        A ``judges.toml``, or judges, or the fields of each as such a file has them. They are
        called.
    people : path or iterable of Worker, optional
        A CSV file with ``id`` and ``price``, or workers. They answer on a page, which
        ``askwise serve`` or ``askwise label`` shows them, unless ``sources`` answers for them.
    sources : mapping of a person to a Source, optional
        What answers for people.
    budget : amount of money, optional
        Never exceeded. With ``resume``, a higher one than before adds the difference.
    target_error : float, optional
        The share of labels that may be wrong.
    certify : float or mapping, optional
        The confidence of a certificate that no more than ``target_error`` of the labels are wrong;
        or all its terms: see :class:`~askwise.core.certify.CertifyTerms`.
    by : str or iterable of str
        The people who audit for it.
    escalate : bool
        Whether they also replace labels that can't be certified.
    policy : str or mapping
        Decides who is asked next; ``"auto"`` chooses what fits.
    pilot : int, optional
        Items that are put to every judge first: 30, or 0 for none.
    store : str or Store
        Where the campaign is kept: ``"sqlite:///labels.sqlite"``.
    name : str
        What the campaign is called there.
    resume : bool
        Whether to go on with it.
    seed : int, optional
        The same seed and the same answers give the same campaign.
    watch : callable, optional
        Told a :class:`~askwise.labelling.LabelProgress` now and then.

    Examples
    --------
    >>> from askwise.sources.function import Function
    >>> from askwise.sources.judges import Judge
    >>> loud = Judge("loud", Function(lambda asked: "yes" if "!" in asked.payload else "no"))
    >>> found = label(["Stop!", "Go on."], question="Is it loud?", options="yes,no", judges=[loud])
    >>> [(each.id, each.label) for each in found.labels]
    [('item-1', 'yes'), ('item-2', 'no')]
    """
    opened = open_store(store)
    order = read_order(
        items,
        question=question,
        options=options,
        content=content,
        title=title,
        instructions=instructions,
        text=text,
        pair=pair,
        id=id,
        truth=truth,
        people=people,
        budget=budget,
        target_error=target_error,
        certify=certify,
        by=by,
        escalate=escalate,
        policy=policy,
        seed=seed,
    )
    cache = StoreCache(opened)
    called = with_judges(order, judges, sources=sources, pilot=pilot, cache=cache)
    job = LabelJob(called, opened, name=name, resume=resume)
    if resume:
        job.raise_budget()
    return job.run(watch=watch)
