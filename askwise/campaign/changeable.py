"""Tasks, workers and money that change while a campaign runs, and a campaign that is put away."""

from collections.abc import Iterable, Mapping
from typing import Any

from askwise.campaign import undoing
from askwise.campaign.revisable import RevisableCampaign
from askwise.campaign.verbs import Verbs
from askwise.core.calls import LONGEST_REMARK, check_by, check_said
from askwise.core.events import Kind
from askwise.core.money import Amount, to_micro
from askwise.core.problem import Task, Worker, as_task, as_worker, listed


class ChangeableCampaign(RevisableCampaign):
    """A campaign to which tasks, workers and money are added, and that can be ended."""

    def add(
        self,
        *,
        tasks: Iterable[Task | Mapping[str, Any] | str] = (),
        workers: Iterable[Worker | Mapping[str, Any]] = (),
        key: str | None = None,
    ) -> None:
        """Add tasks and workers; a worker who left may come back, at another price too.

        So may their other fields differ, except that somebody who was asked does not come back as
        a crowd if they were a person or model, nor the other way round.
        """
        new_tasks = [as_task(task) for task in listed(tasks, "tasks")]
        new_workers = [as_worker(worker) for worker in listed(workers, "workers")]
        written = {"tasks": [task.to_json() for task in new_tasks]}
        written["workers"] = [worker.to_json() for worker in new_workers]
        self._do("add", key, lambda verbs, **_: verbs.add(new_tasks, new_workers), **written)

    def bid(self, worker: str, amount: Amount, key: str | None = None) -> None:
        """Name a worker's price for an answer, sealed; a later bid takes its place.

        Only with a mechanism that takes bids, and before the first ask, which closes the
        bidding. No view shows a bid before that; the log does, to those who may read it.
        """
        self._do("bid", key, Verbs.bid, worker=worker, amount=to_micro(amount, "amount"))

    def leave(self, worker: str, key: str | None = None) -> None:
        """Let a worker go; what they have out is released, and may be answered late."""
        self._do("leave", key, Verbs.leave, worker=worker)

    def suspend(
        self, worker: str, *, by: str, why: str | None = None, key: str | None = None
    ) -> None:
        """Hand nothing to a worker until :meth:`reinstate`; what they have out stays theirs.

        Screening does the same where gold questions show that somebody is not good enough.

        Parameters
        ----------
        by : str
            Who decides.
        why : str, optional
            The reason, in up to 2,000 characters.
        key : str, optional
            A retry with the same key changes nothing.
        """
        self._do("suspend", key, Verbs.suspend, worker=worker, **decided(by, why))

    def reinstate(
        self, worker: str, *, by: str, why: str | None = None, key: str | None = None
    ) -> None:
        """Ask a worker again who was suspended.

        If gold questions had brought that about, those answers count no more, and nobody has to
        qualify again. Parameters as of :meth:`suspend`.
        """
        self._do("reinstate", key, Verbs.reinstate, worker=worker, **decided(by, why))

    def top_up(self, amount: Amount, key: str | None = None) -> None:
        """Add money to the budget."""
        self._do("top_up", key, Verbs.top_up, amount=to_micro(amount, "amount"))

    def pause(self, key: str | None = None) -> None:
        """Hand out nothing until :meth:`resume`; answers are still taken."""
        self._do("pause", key, lambda verbs: verbs.switch(Kind.PAUSED))

    def resume(self, key: str | None = None) -> None:
        """Go on after :meth:`pause`."""
        self._do("resume", key, lambda verbs: verbs.switch(Kind.RESUMED))

    def stop(self, key: str | None = None) -> None:
        """End the campaign for good; answers to what is out are still taken."""
        self._do("stop", key, lambda verbs: verbs.switch(Kind.STOPPED))

    def close(self, task: str, key: str | None = None) -> None:
        """Ask no more about a task."""
        self._do("close", key, Verbs.close, task=task)

    # Taking back.

    def remove(self, task: str, key: str | None = None) -> None:
        """Take a task out that nobody has answered; it is in no view any more.

        What is out of it is released. To policies it is closed. Its id stays in the log and is not
        used again. A task that was answered, paid for, labelled by hand or drawn for audits stays:
        :meth:`close` it, so that nobody else is asked.
        """
        self._do("remove", key, undoing.remove_task, task=task)

    def archive(self, key: str | None = None) -> None:
        """Put the campaign away: it is read only and in no list of work until :meth:`unarchive`.

        Only while nothing is out. ``askwise archive --to DIR`` also moves its log to a file.
        """
        self._do("archive", key, undoing.archive)

    def unarchive(self, key: str | None = None) -> None:
        """Take the campaign up again, as it was before :meth:`archive`."""
        self._do("unarchive", key, undoing.unarchive)

    def retitle(self, title: str | None, key: str | None = None) -> None:
        """Call the campaign something else; None for the title that it was created with.

        Its name stays: links, tokens and webhooks hold on to that.
        """
        self._do("retitle", key, undoing.retitle, title=undoing.check_title(title))


def decided(by: str, why: str | None) -> dict[str, Any]:
    """Who decides something, and why if that was said."""
    said = {"by": check_by(by)}
    return said if why is None else {**said, "why": check_said(why, "why", LONGEST_REMARK)}
