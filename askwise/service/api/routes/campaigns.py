"""Campaigns: made, listed, changed, read; and as files."""

from functools import partial
from typing import Annotated, Any, Literal

from pydantic import Field
from starlette.responses import Response

from askwise.campaign import Campaign, views
from askwise.core.problem import Task
from askwise.service.api import dependencies as d
from askwise.service.api.actions import additions_of, create_once, fields_of, status_of
from askwise.service.api.shapes import creation, replies, requests
from askwise.service.exports import EXPORTS, FORMER, sent_as_file
from askwise.service.incoming_request import IncomingRequest
from askwise.service.json_reply import JsonReply

router = d.group("campaigns", "/campaigns")

_BODY = {
    "required": True,
    "content": {
        "application/json": {"schema": {"$ref": "#/components/schemas/NewCampaign"}},
        "application/toml": {"schema": {"type": "string"}},
    },
}

_TEXT = {"schema": {"type": "string"}}
_FILE: dict[int, dict[str, Any]] = {
    200: {
        "description": "The file, sent as it is made.",
        "content": {
            "text/csv": _TEXT,
            "application/jsonl": _TEXT,
            "application/zip": {"schema": {"type": "string", "format": "binary"}},
        },
    }
}

What = Annotated[
    Literal[
        "results.csv",
        "answers.csv",
        "answers.jsonl",
        "calls.csv",
        "votes.csv",
        "payments.csv",
        "payouts.csv",
        "payout-history.csv",
        "bonuses.csv",
        "log.jsonl",
        "tables.zip",
        "labels.csv",
    ],
    Field(
        description=" ".join(
            [
                *(f"`{file}`: {words}" for file, (_, words) in EXPORTS.items()),
                *(f"`{file}`: The former name of `{now}`." for file, now in FORMER.items()),
            ]
        )
    ),
]


@router.post("", status=201, reply=views.Status, request_body=_BODY)
async def create_campaign(
    request: IncomingRequest, service: d.Serving, caller: d.Requester, key: d.RetryKey
) -> Response:
    """Create a campaign from JSON, or from TOML (`Content-Type: application/toml`)."""
    body = await request.body()

    def make() -> dict[str, Any]:
        return create_once(service, fields_of(request.media_type, body), key)

    # In a thread from here on: a large file takes its time to be read.
    status = await service.threads.run(make)
    return JsonReply(status, 201, {"Location": f"/campaigns/{status['name']}"})


@router.get("", reply=replies.CampaignsShape)
def list_campaigns(
    service: d.Serving, caller: d.Viewer, page: d.NamedPage, archived: requests.Archived = "no"
) -> Response:
    """List the campaigns by name; those that were archived only if they are asked for."""
    found = service.campaigns.listed(archived=archived == "yes")
    names = [name for name in found if name > page.after]
    made = page.cut_named(names, str, str)
    items, broken = service.campaigns.each(made["items"], partial(status_of, service))
    return JsonReply({**made, "items": items, "unreadable": broken})


@router.get("/{name}", reply=replies.CampaignShape, responses=d.POLLED)
def get_campaign(call: d.Look) -> Response:
    """A campaign at a glance, and what its workers are asked and shown."""
    content = call.campaign.content  # complains if there is none, or it can't be opened
    shown = {"content": None if content is None else content.to_json()}
    return call.polled(call.position, lambda: {**status_of(call.service, call.name), **shown})


@router.get("/{name}/spec", reply=replies.SpecShape)
def get_spec(call: d.Look) -> Response:
    """The campaign as it was created."""
    return JsonReply(call.campaign.spec)


@router.post("/{name}/pause", reply=views.Status)
def pause_campaign(call: d.Change) -> Response:
    """Hand out nothing until it is resumed; answers are still taken."""
    call.campaign.pause(call.key)
    return call.status()


@router.post("/{name}/resume", reply=views.Status)
def resume_campaign(call: d.Change) -> Response:
    """Go on after a pause."""
    call.campaign.resume(call.key)
    return call.status()


@router.post("/{name}/stop", reply=views.Status)
def stop_campaign(call: d.Change) -> Response:
    """End a campaign for good; answers to what is out are still taken."""
    call.campaign.stop(call.key)
    return call.status()


@router.post("/{name}/top-up", reply=views.Status)
def top_up_campaign(call: d.Change, body: requests.AmountBody) -> Response:
    """Add money to the budget."""
    call.campaign.top_up(body.amount, call.key)
    return call.status()


@router.post("/{name}/add", reply=views.Status)
def add_tasks_and_workers(call: d.Change, body: creation.AdditionsBody) -> Response:
    """Add tasks and workers, all or none."""
    call.campaign.add(**additions_of(call.service, call.campaign, body), key=call.key)
    return call.status()


@router.post("/{name}/close", reply=views.Status)
def close_task(call: d.Change, body: requests.TaskOnly) -> Response:
    """Ask no more about a task."""
    call.campaign.close(body.task, call.key)
    return call.status()


@router.post("/{name}/truth", reply=views.Status)
def tell_truth(call: d.Change, body: requests.TruthBody) -> Response:
    """Reveal the true option of a task."""
    call.campaign.truth(body.task, body.option, call.key)
    return call.status()


@router.post("/{name}/truths", reply=views.Status)
def tell_truths(call: d.Change, body: requests.TruthsBody) -> Response:
    """Reveal the true options of many tasks, all or none."""
    call.campaign.truths(body.truths, call.key)
    return call.status()


@router.post("/{name}/label", reply=views.Status)
def set_label(call: d.Change, body: requests.LabelBody) -> Response:
    """Set the label of a task by hand; it wins over answers, and can be set again."""
    call.campaign.set_label(
        body.task,
        body.value,
        by=body.by or call.caller.label,
        why=body.why,
        truth=body.truth,
        key=call.key,
    )
    return call.status()


@router.post("/{name}/comment", reply=views.Status)
def comment_on_task(call: d.Change, body: requests.CommentBody) -> Response:
    """Write a comment on a task; workers do not see it."""
    call.campaign.comment(body.task, body.text, by=body.by or call.caller.label, key=call.key)
    return call.status()


@router.get("/{name}/over", reply=replies.OverShape)
def get_end(call: d.Look) -> Response:
    """Why there is nothing more to ask, if so, and nothing is out."""
    done = call.campaign.over()
    return JsonReply({"why": None if done is None else done.why})


@router.get("/{name}/answers", reply=replies.AnswersShape, responses=d.POLLED)
def list_answers(call: d.Look, page: d.Page) -> Response:
    """Every task's answer so far, in the order in which tasks were added."""
    return call.listed("answers", Campaign.answers, page)


@router.get("/{name}/certificate", reply=views.CampaignCertificate, responses=d.POLLED)
def get_certificate(call: d.Look) -> Response:
    """What audits have shown of the labels so far, in a campaign that certifies them."""
    return call.viewed("certificate", Campaign.certificate)


@router.get("/{name}/pilot", reply=views.PilotReport, responses=d.POLLED)
def get_pilot(call: d.Look) -> Response:
    """What the pilot has shown of its workers so far, in a campaign that has one."""
    return call.viewed("pilot", Campaign.pilot)


@router.get("/{name}/results", reply=views.CampaignResults, responses=d.POLLED)
def get_results(call: d.Look) -> Response:
    """What the labels are, what they rest on, and how many are right as far as that is known."""
    return call.viewed("results", Campaign.results)


@router.get("/{name}/agreement", reply=views.Agreement, responses=d.POLLED)
def get_agreement(call: d.Look) -> Response:
    """How far answers to the same tasks agree: raw agreement and Krippendorff's alpha."""
    return call.viewed("agreement", Campaign.agreement)


@router.get("/{name}/judges", reply=views.JudgesReport, responses=d.POLLED)
def get_judges(call: d.Look) -> Response:
    """The models among the workers: beside people and truths, and what they are worth together."""
    return call.viewed("judges", Campaign.judges)


@router.get("/{name}/worker", reply=views.WorkerReport, responses=d.POLLED)
def get_worker(call: d.Look, id: requests.WorkerId) -> Response:
    """One worker in full: quality over time, what they mix up, by context, and their pace."""
    return call.viewed(("worker", id), lambda campaign: campaign.worker(id))


@router.get("/{name}/task", reply=Task)
def get_task(call: d.Look, id: requests.TaskId) -> Response:
    """A task as it was added, with its payload."""
    return JsonReply(call.campaign.task(id).to_json())


@router.get("/{name}/workers", reply=replies.WorkersShape)
def list_workers(call: d.Look, page: d.Page) -> Response:
    """The workers in the order in which they joined: their work, their money, how good they seem.

    A quality comes with a 95% interval and with what it rests on: known truths, or agreement
    with the other workers, which is not the same.
    """
    return call.listed("workers", Campaign.workers, page)


@router.get("/{name}/log", reply=replies.LogShape, responses=d.POLLED)
def read_log(call: d.Look, page: d.Page) -> Response:
    """The events of a campaign, from the first on."""
    campaign, position = call.campaign, call.position

    def make() -> dict[str, Any]:
        events = campaign.log(page.start, page.start + page.limit)
        end = page.start + len(events)
        more = str(end) if events and end < position else None
        return {"items": [event.to_json() for event in events], "next": more}

    return call.polled(position, make)


@router.get("/{name}/export/{what}", responses=_FILE)
def export_file(call: d.Look, what: What) -> Response:
    """A campaign as a file: answers, labels, payments, the whole log, or all tables together."""
    return sent_as_file(call.campaign, what)
