"""What an agent can do with the campaigns of a service, one method a tool.

The docstring of a method is what the agent reads, and its annotations are the tool's schema.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from askwise.agents.allowance import Allowance
from askwise.client import RemoteCampaign, Service
from askwise.core.choices import Batch, Done
from askwise.core.errors import InvalidProblem, UnknownName

LONGEST_WAIT = 60.0
"""Seconds that a tool waits at most: agents give up on longer calls."""

MOST_LABELS = 200
"""Labels in one reply: what an agent reads fills its context."""

CampaignName = Annotated[str, Field(description="The campaign's name.")]
Money = Annotated[str, Field(description="An exact amount, such as '2.50'.")]
Limit = Annotated[int, Field(ge=1, le=MOST_LABELS, description="The most entries of the reply.")]


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ItemShape(_Shape):
    """One thing to be judged."""

    id: str = Field(description="Its name, unique in the campaign.")
    payload: Any = Field(
        None, description="What workers see: a text, or an object with the fields that are shown."
    )


class OptionShape(_Shape):
    """A possible answer."""

    name: str = Field(description="What the label will be.")
    meaning: str = Field("", description="When to choose it.")


class WorkerShape(_Shape):
    """Somebody who answers."""

    id: str = Field(description="Their name, unique in the campaign.")
    price: Money
    limit: int | None = Field(None, ge=1, description="The most answers they give.")
    kind: str | None = Field(None, description="'person' or 'model'.")
    family: str | None = Field(
        None, description="A name shared by workers that err together, such as one model's prompts."
    )
    trusted: bool = Field(False, description="Whether their answers are taken as the truth.")


class GuessedShape(WorkerShape):
    """A worker, and how often you guess that they are right."""

    accuracy: float | None = Field(
        None, gt=0, lt=1, description="The share of right answers; none needed for trusted ones."
    )


class CertifyShape(_Shape):
    """What is to be certified of the labels."""

    error: float = Field(gt=0, lt=1, description="The share of labels that may be wrong.")
    confidence: float = Field(0.9, gt=0, lt=1, description="Confidence of the statement.")
    by: list[str] = Field(min_length=1, description="The trusted workers who audit.")


class Toolbox:
    """The tools over one service.

    Parameters
    ----------
    service : Service
        With a requester's key; a viewer's can only look.
    allowance : Allowance
        What may go into budgets.
    clock, sleep : callable
        For waiting.
    """

    def __init__(
        self,
        service: Service,
        allowance: Allowance,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._service = service
        self._allowance = allowance
        self._clock = clock
        self._sleep = sleep

    # Looking.

    def list_campaigns(self) -> dict[str, Any]:
        """List all campaigns: name, state, budget, what is spent, how many tasks are settled."""
        shown = ("name", "state", "why", "budget", "spent", "tasks", "settled", "answers")
        found = [status.to_json() for status in self._service.campaigns()]
        return {"campaigns": [{name: each[name] for name in shown} for each in found]}

    def get_campaign(self, campaign: CampaignName) -> dict[str, Any]:
        """Look at one campaign: its state and why it ended, money, progress, the question asked."""
        found = self._open(campaign)
        content = found.content
        return {
            **found.status().to_json(),
            "content": None if content is None else content.to_json(),
        }

    def wait_for_change(
        self,
        campaign: CampaignName,
        after: Annotated[int, Field(ge=0, description="The `seq` that you have seen.")] = 0,
        seconds: Annotated[float, Field(ge=0, le=LONGEST_WAIT)] = 30.0,
    ) -> dict[str, Any]:
        """Wait until something happens in a campaign, then say how it stands.

        Returns the status as soon as its `seq` is above `after` or the campaign is over; after
        `seconds` at the latest, and then perhaps unchanged.
        """
        found = self._open(campaign)
        end = self._clock() + seconds
        while True:
            status = found.status()
            if status.seq > after or status.state in ("done", "stopped") or self._clock() >= end:
                return status.to_json()
            self._sleep(min(1.0, max(0.0, end - self._clock())))

    def get_labels(
        self,
        campaign: CampaignName,
        offset: Annotated[int, Field(ge=0, description="How many tasks to skip.")] = 0,
        limit: Limit = 50,
        least_sure_first: bool = False,
    ) -> dict[str, Any]:
        """Read labels: each task's answer, its confidence, and what that confidence rests on.

        `rests_on` is 'agreement' (votes and a model of workers, no probability), 'calibrated' (a
        probability, by known truths), 'certified' (an audited statement) or 'truth'. Never report
        agreement as accuracy.
        """
        found = self._open(campaign).answers()
        if least_sure_first:
            found.sort(key=lambda each: -1.0 if each.confidence is None else each.confidence)
        items = [each.to_json() for each in found[offset : offset + limit]]
        return {"total": len(found), "offset": offset, "labels": items}

    def get_certificate(self, campaign: CampaignName) -> dict[str, Any]:
        """Read what audits have shown of the labels, in a campaign that certifies them."""
        return self._open(campaign).certificate().to_json()

    def get_payments(self, campaign: CampaignName) -> dict[str, Any]:
        """Read what each worker has earned."""
        return {"payments": [each.to_json() for each in self._open(campaign).payments()]}

    def explain_question(
        self, assignment: Annotated[str, Field(description="The assignment's id.")]
    ) -> dict[str, Any]:
        """Say why a worker was asked this question: the decision, recomputed from the log."""
        return self._of_assignment(assignment).explain(assignment).to_json()

    def list_judges(self) -> dict[str, Any]:
        """List the model judges that the service can ask by itself, with their prices."""
        return {"judges": self._service.judges()}

    # Planning.

    def plan_labels(
        self,
        tasks: Annotated[int, Field(ge=1, le=100_000, description="How many items.")],
        workers: Annotated[list[GuessedShape], Field(min_length=1)],
        options: Annotated[int, Field(ge=2, le=100, description="How many options.")] = 2,
        target_error: Annotated[float | None, Field(gt=0, lt=1)] = None,
        budget: Money | None = None,
    ) -> dict[str, Any]:
        """Say what labelling will cost, by simulation with your guesses. Spends nothing.

        Give `target_error`, the share of labels that may be wrong, or `budget` to see how far it
        goes. The reply says what it expects, the range, and what no plan can know.
        """
        from askwise.core.problem import as_worker
        from askwise.data.guesses import GuessedWorker
        from askwise.lab.rehearsing.planner import plan_campaign
        from askwise.lab.rehearsing.worlds import GuessedWorlds

        guesses = [
            GuessedWorker(as_worker(_given(each, leave="accuracy")), each.accuracy)
            for each in workers
        ]
        worlds = GuessedWorlds(guesses, tasks, options)
        made = plan_campaign(worlds, target_error=target_error, budget=budget, runs=30)
        return made.to_json()

    # Money.

    def create_campaign(
        self,
        question: Annotated[str, Field(description="What is asked about every item.")],
        options: Annotated[list[OptionShape], Field(min_length=2)],
        items: Annotated[list[ItemShape], Field(min_length=1)],
        budget: Money,
        workers: list[WorkerShape] | None = None,
        judges: Annotated[
            list[str] | None, Field(description="Model judges of the service, by id.")
        ] = None,
        name: str | None = None,
        title: str = "",
        instructions: Annotated[str, Field(description="How to judge, in Markdown.")] = "",
        target_error: Annotated[
            float | None, Field(gt=0, lt=1, description="Stop once labels are this sure.")
        ] = None,
        certify: CertifyShape | None = None,
    ) -> dict[str, Any]:
        """Create a campaign that labels items. SPENDS up to `budget`, which is a hard limit.

        Judges are asked by the service at once, and that costs money; people answer by their
        links (`invite_worker`). `plan_labels` says beforehand what to expect.
        """
        staff: list[dict[str, Any]] = [_given(each) for each in workers or ()]
        staff += [{"judge": each} for each in judges or ()]
        if not staff:
            raise InvalidProblem("workers and judges are empty: give some", field="workers")
        content = {
            "question": question,
            "options": [_given(each) for each in options],
            **({"title": title} if title else {}),
            **({"instructions": instructions} if instructions else {}),
        }
        policy: dict[str, Any] = {"name": "auto"}
        if target_error is not None:
            policy["target"] = target_error
        with self._allowance.spending(budget, "budget"):
            made = self._service.create(
                name=name,
                tasks=[_given(each) for each in items],
                workers=staff,
                options=[each.name for each in options],
                budget=budget,
                policy=policy,
                content=content,
                certify=None if certify is None else _given(certify),
            )
        return made.status().to_json()

    def top_up(self, campaign: CampaignName, amount: Money) -> dict[str, Any]:
        """Add money to a campaign's budget. SPENDS up to `amount` more."""
        found = self._open(campaign)
        with self._allowance.spending(amount, "amount"):
            found.top_up(amount)
        return found.status().to_json()

    # Working.

    def add_items(
        self, campaign: CampaignName, items: Annotated[list[ItemShape], Field(min_length=1)]
    ) -> dict[str, Any]:
        """Add items to a campaign. SPENDS, within the campaign's budget."""
        found = self._open(campaign)
        found.add(tasks=[_given(each) for each in items])
        return found.status().to_json()

    def invite_worker(
        self, campaign: CampaignName, worker: str, price: Money | None = None
    ) -> dict[str, Any]:
        """Make a person's link; with a price they join first. SPENDS as they answer, in the budget.

        Anybody with the link answers in this worker's name: hand it to that person alone.
        """
        return self._open(campaign).invite(worker, price=price).to_json()

    def get_questions(
        self,
        campaign: CampaignName,
        workers: Annotated[
            list[str], Field(min_length=1, description="The workers who are available.")
        ],
        limit: Annotated[int, Field(ge=1, le=20)] = 1,
    ) -> dict[str, Any]:
        """Take questions for workers whose answers you will bring. RESERVES their prices."""
        choice = self._open(campaign).ask(limit, workers)
        if isinstance(choice, Batch):
            return {"questions": [each.to_json() for each in choice]}
        word = "done" if isinstance(choice, Done) else "wait"
        return {"questions": [], word: choice.why if isinstance(choice, Done) else choice.what}

    def answer_question(
        self,
        assignment: Annotated[str, Field(description="The id that `get_questions` gave.")],
        value: Annotated[str, Field(description="The option that the worker chose.")],
    ) -> dict[str, Any]:
        """Bring the answer to a question. SPENDS its price.

        Answer only for a worker who gave this answer: an answer made up is paid for and believed.
        """
        found = self._of_assignment(assignment)
        found.tell(assignment, value)
        return found.status().to_json()

    def set_label(
        self, campaign: CampaignName, task: str, value: str, by: str, why: str = ""
    ) -> dict[str, Any]:
        """Set a task's label by hand; it wins over all answers, and who set it is on record."""
        found = self._open(campaign)
        found.set_label(task, value, by=by, why=why or None)
        return found.status().to_json()

    def pause_campaign(self, campaign: CampaignName) -> dict[str, Any]:
        """Ask nobody until the campaign is resumed; answers on their way are taken."""
        found = self._open(campaign)
        found.pause()
        return found.status().to_json()

    def resume_campaign(self, campaign: CampaignName) -> dict[str, Any]:
        """Go on after a pause. SPENDS, within the campaign's budget."""
        found = self._open(campaign)
        found.resume()
        return found.status().to_json()

    def stop_campaign(self, campaign: CampaignName) -> dict[str, Any]:
        """End a campaign for good. It can't be resumed."""
        found = self._open(campaign)
        found.stop()
        return found.status().to_json()

    def _open(self, name: str) -> RemoteCampaign:
        return self._service.open(name)

    def _of_assignment(self, assignment: str) -> RemoteCampaign:
        name, found, _ = assignment.rpartition(":")
        if not found:
            raise UnknownName(
                f"assignment is {assignment!r}: give the id that get_questions gave, as NAME:12",
                field="assignment",
                reason="unknown_assignment",
            )
        return self._open(name)


READING = (
    *("list_campaigns", "get_campaign", "wait_for_change", "get_labels", "get_certificate"),
    *("get_payments", "explain_question", "list_judges", "plan_labels"),
)
"""Tools that change nothing."""

WRITING = (
    *("create_campaign", "top_up", "add_items", "invite_worker", "get_questions"),
    *("answer_question", "set_label", "pause_campaign", "resume_campaign", "stop_campaign"),
)
"""Tools that change something; those that cost money say so in capitals."""


def _given(shape: BaseModel, leave: str = "") -> dict[str, Any]:
    """What was given of a shape, as the client takes it."""
    fields: Mapping[str, Any] = shape.model_dump(exclude_none=True, exclude={leave})
    return {name: value for name, value in fields.items() if value not in ("", False)}


def tool_names(read_only: bool) -> Sequence[str]:
    """The tools that a server has."""
    return READING if read_only else (*READING, *WRITING)
