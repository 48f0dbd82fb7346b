"""The operator's judges, and the runs of the service."""

from starlette.responses import Response

from askwise.service.api import dependencies as d
from askwise.service.api.shapes import replies
from askwise.service.json_reply import JsonReply

router = d.group("judges")


@router.get("/judges", reply=replies.JudgesShape)
def list_judges(service: d.Serving, caller: d.Viewer, page: d.Page) -> Response:
    """The judges that this service has, for `{"judge": ID}` among the workers of a campaign."""
    return JsonReply(page.cut(service.judges.to_json(), dict))


@router.get("/campaigns/{name}/run", reply=replies.RunShape)
def get_run(call: d.Look) -> Response:
    """Who asks the judges of a campaign, what is in flight, and who can't be asked and why."""
    _ = call.campaign  # complains if there is none, or it can't be opened
    return JsonReply(call.service.runs.report(call.name))
