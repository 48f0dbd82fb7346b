"""What can be taken back: tasks, titles, campaigns that are put away or deleted, workers' names."""

from starlette.responses import Response

from askwise.campaign import views
from askwise.service.api import undoing
from askwise.service.api.dependencies import Change, group
from askwise.service.api.shapes import replies, requests
from askwise.service.json_reply import JsonReply

router = group("campaigns", "/campaigns")


@router.post("/{name}/remove", reply=views.Status)
def remove_task(call: Change, body: requests.TaskOnly) -> Response:
    """Take a task out that nobody has answered; what is out of it is released."""
    call.campaign.remove(body.task, call.key)
    return call.status()


@router.post("/{name}/title", reply=views.Status)
def set_title(call: Change, body: requests.TitleBody) -> Response:
    """Call a campaign something else; its name, which links and tokens hold, stays."""
    call.campaign.retitle(body.title, call.key)
    return call.status()


@router.post("/{name}/archive", reply=views.Status)
def archive_campaign(call: Change) -> Response:
    """Put a campaign away of which nothing is out: read only, and not in the list."""
    call.campaign.archive(call.key)
    return call.status()


@router.post("/{name}/unarchive", reply=views.Status)
def unarchive_campaign(call: Change) -> Response:
    """Take a campaign up again that was archived."""
    call.campaign.unarchive(call.key)
    return call.status()


@router.delete("/{name}", reply=replies.DeletedShape)
def delete_campaign(call: Change) -> Response:
    """Delete a campaign that nobody has answered, with its links and webhooks, for good."""
    undoing.delete_campaign(call.service, call.name, call.key)
    return JsonReply({"name": call.name})


@router.post("/{name}/forget", reply=replies.NamedShape)
def forget_worker(call: Change, body: requests.ForgetBody) -> Response:
    """Replace a worker's id by a pseudonym in the whole log and in all that belongs to it."""
    new = undoing.forget(call.service, call.name, body.worker, body.pseudonym, call.key)
    return JsonReply({"worker": new})
