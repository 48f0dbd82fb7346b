"""Predictions: what model judges say of tasks, and what the campaign has come to."""

import logging
from typing import Any

from askwise.campaign import Campaign
from askwise.core.errors import InvalidParameter
from askwise.running.label_studio.board import Board, LabelStudioTask
from askwise.running.label_studio.campaign_view import CampaignMoment
from askwise.running.label_studio.counts import SyncCounts
from askwise.sources.label_studio import LabelStudioApi, LabelStudioForm

log = logging.getLogger(__name__)

LABEL = "askwise/"
"""How the model version of a label begins; what it rests on follows: ``askwise/certified``."""

BY_HAND = "by_hand"
"""What a label rests on that somebody has set."""


class PredictionWriter:
    """Writes predictions that differ from what the campaign says."""

    def __init__(
        self, campaign: Campaign, api: LabelStudioApi, form: LabelStudioForm, counts: SyncCounts
    ) -> None:
        self._campaign = campaign
        self._api = api
        self._form = form
        self._counts = counts
        self._new: dict[int, list[dict[str, Any]]] = {}
        """Predictions that are not there yet, by project: they are sent together."""

    def write(self, board: Board, moment: CampaignMoment) -> None:
        """Bring the predictions of all tasks up to date."""
        labels, self._new = self._labels(), {}
        models = {id for id, worker in moment.workers.items() if worker.kind == "model"}
        for place in board.places.values():
            for judge in sorted(models):
                said = moment.verdicts(place.task).get(judge)
                found = [each for each in place.predictions if each["model_version"] == judge]
                wanted = None if said is None else self._fields(judge, said, None)
                self._put(place, found, wanted, "verdicts")
            found = [
                each
                for each in place.predictions
                if str(each["model_version"] or "").startswith(LABEL)
            ]
            self._put(place, found, labels.get(place.task), "labels")
        for project, rows in self._new.items():
            try:
                self._api.import_predictions(project, rows)
            except InvalidParameter as refused:
                # A task was deleted a moment ago: the next look finds that out.
                log.warning("predictions were not written: %s", refused)

    def _labels(self) -> dict[str, dict[str, Any]]:
        """The labels of tasks about which nobody is asked any more."""
        over = self._campaign.over() is not None
        found: dict[str, dict[str, Any]] = {}
        for answer in self._campaign.answers():
            if answer.task is None or answer.value is None:
                continue
            if answer.outcome == "open" and not over:
                continue
            rests_on = BY_HAND if answer.decided_by is not None else answer.rests_on
            version = f"{LABEL}{rests_on or 'unknown'}"
            found[answer.task] = self._fields(version, answer.value, answer.confidence)
        return found

    def _fields(self, version: str, value: str | float, score: float | None) -> dict[str, Any]:
        return {
            "model_version": version,
            "result": self._form.result(value),
            "score": None if score is None else round(score, 6),
        }

    def _put(
        self,
        place: LabelStudioTask,
        found: list[dict[str, Any]],
        wanted: dict[str, Any] | None,
        deed: str,
    ) -> None:
        """Make what is found what is wanted: one prediction, or none."""
        kept = found[:1] if wanted is not None else []
        for each in found[len(kept) :]:
            self._api.delete_prediction(int(each["id"]))
            place.predictions.remove(each)
        if wanted is None:
            return
        if not kept:
            self._new.setdefault(place.project, []).append({"task": place.id, **wanted})
        elif all(self._same(kept[0].get(name), value) for name, value in wanted.items()):
            return
        else:
            self._api.change_prediction(int(kept[0]["id"]), wanted)
        self._counts.count(deed)

    @staticmethod
    def _same(found: object, wanted: object) -> bool:
        if isinstance(found, float) and isinstance(wanted, float):
            return abs(found - wanted) < 1e-6
        if isinstance(found, list) and isinstance(wanted, list):
            # Label Studio adds an id to what it is given.
            return [_bare(each) for each in found] == [_bare(each) for each in wanted]
        return found == wanted


def _bare(region: dict[str, Any]) -> dict[str, Any]:
    return {name: region.get(name) for name in ("from_name", "to_name", "type", "value")}
