"""What is in Label Studio: projects, tasks and what people have submitted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from xml.etree import ElementTree as Xml

from askwise.campaign import Campaign
from askwise.core.errors import InvalidParameter
from askwise.sources.label_studio import (
    TASK,
    LabelStudio,
    LabelStudioApi,
    LabelStudioForm,
    Missing,
)

BATCH = 250
"""Tasks in one import."""

LONGEST_TITLE = 50
"""Characters of a project's title that Label Studio takes; it wants at least three."""

ALL = None
"""Stands for everybody, where a project is not one worker's own."""


@dataclass(frozen=True)
class SubmittedAnnotation:
    """What somebody has submitted about a task: an annotation, or a skip.

    Attributes
    ----------
    id : int
        Of the annotation.
    user : int or None
        Who; None if the account is gone.
    place : int
        The task in Label Studio.
    result : list
        What was annotated.
    skipped : bool
        Whether they skipped the task.
    updated : float
        When it was changed last, in seconds since 1970, by the clock there.
    """

    id: int
    user: int | None
    place: int
    result: Any
    skipped: bool
    updated: float

    @classmethod
    def read(cls, raw: Mapping[str, Any], place: int) -> SubmittedAnnotation:
        """Read an annotation."""
        by = raw.get("completed_by")
        return cls(
            id=int(raw["id"]),
            user=by.get("id") if isinstance(by, Mapping) else by,
            place=place,
            result=raw.get("result"),
            skipped=bool(raw.get("was_cancelled")),
            updated=datetime.fromisoformat(raw["updated_at"]).timestamp(),
        )


@dataclass
class LabelStudioTask:
    """A task of the campaign, in a project."""

    id: int
    project: int
    task: str
    overlap: int
    labelled: bool
    submissions: list[SubmittedAnnotation] = field(default_factory=list)
    predictions: list[dict[str, Any]] = field(default_factory=list)
    draft: bool = False

    @classmethod
    def read(cls, raw: Mapping[str, Any]) -> LabelStudioTask | None:
        """Read a task; None if it is none of ours."""
        data = raw.get("data")
        task = data.get(TASK) if isinstance(data, Mapping) else None
        if not isinstance(task, str):
            return None
        id = int(raw["id"])
        return cls(
            id=id,
            project=int(raw["project"]),
            task=task,
            overlap=int(raw["overlap"]),
            labelled=bool(raw["is_labeled"]),
            # A ground truth is what the project's owner says, and no worker's answer.
            submissions=[
                SubmittedAnnotation.read(each, id)
                for each in raw.get("annotations") or ()
                if not each.get("ground_truth")
            ],
            predictions=list(raw.get("predictions") or ()),
            draft=bool(raw.get("drafts")),
        )

    @property
    def answered(self) -> int:
        """Annotations, as Label Studio counts them against the overlap."""
        return sum(not each.skipped for each in self.submissions)


class Board:
    """The projects of one campaign, as they were when they were read.

    Parameters
    ----------
    content, instructions
        Are written into projects as they are made, and where they differ.
    """

    def __init__(
        self, api: LabelStudioApi, settings: LabelStudio, campaign: Campaign, form: LabelStudioForm
    ) -> None:
        self._api = api
        self._settings = settings
        self._form = form
        content = form.content
        seed = campaign.spec.get("seed")
        told = json.dumps([campaign.name, seed, content.to_json()], sort_keys=True)
        self._mark = f"askwise {campaign.name} {hashlib.sha256(told.encode()).hexdigest()[:12]}"
        """By which a project is found again: it is in the description."""
        self._title = (content.title or content.question).strip()
        self.projects: dict[str | None, int] = {}
        """Project by worker; of everybody where there is one project for all."""
        self.places: dict[int, LabelStudioTask] = {}
        """By the number of the task in Label Studio."""
        self._fields: dict[int, dict[str, Any]] = {}

    # Projects.

    def find_projects(self) -> None:
        """Find the projects that there are, and bring them up to date."""
        wanted = self._settings.project
        self.projects = {}
        if wanted is not None:
            try:
                found = self._api.project(wanted)
            except Missing:
                raise InvalidParameter(
                    f"project is {wanted}, and Label Studio has no such project", field="project"
                ) from None
            self._take(ALL, found)
            return
        # Two may be there if a request was carried out that seemed to fail: the first is used.
        for found in sorted(self._api.projects(), key=lambda each: int(each["id"])):
            mark, _, owner = str(found.get("description") or "").partition("\n")
            own = owner.removeprefix("worker: ") if owner else ALL
            wants_own = self._settings.one_project_per_worker
            if mark == self._mark and (own is not ALL) == wants_own and own not in self.projects:
                self._take(own, found)

    def need_project(self, owner: str | None) -> int:
        """The project of a worker, or of everybody; it is made if it is not there."""
        if owner not in self.projects:
            fields = self._project_fields() | {
                "title": self._titled(owner),
                "description": self._mark if owner is ALL else f"{self._mark}\nworker: {owner}",
                "maximum_annotations": 0,  # a task comes closed, and is opened when it is wanted
            }
            self._take(owner, self._api.create_project(fields))
        return self.projects[owner]

    def _take(self, owner: str | None, found: dict[str, Any]) -> None:
        id, wanted = int(found["id"]), self._project_fields()
        if not found.get("task_number"):
            wanted["maximum_annotations"] = 0
        differs = {
            name: value
            for name, value in wanted.items()
            if (_plain(found.get(name)) if name == "label_config" else found.get(name))
            != (_plain(value) if name == "label_config" else value)
            # Label Studio cleans what is said there.
            and name != "expert_instruction"
        }
        if "label_config" in differs:
            differs["expert_instruction"] = wanted["expert_instruction"]
        if differs:
            self._api.change_project(id, differs)
        self.projects[owner] = id

    def _project_fields(self) -> dict[str, Any]:
        said = self._form.instructions()
        return {
            "label_config": self._form.config(),
            "expert_instruction": said,
            "show_instruction": bool(said),
            "show_collab_predictions": self._settings.show_verdicts,
            "skip_queue": "REQUEUE_FOR_OTHERS",
            "enable_empty_annotation": False,
        }

    def _titled(self, owner: str | None) -> str:
        title = self._title if owner is ALL else f"{owner}: {self._title}"
        return f"{title[:LONGEST_TITLE]:<3}".replace("   ", "...")

    def show_version(self, version: str) -> None:
        """Choose which predictions people see, where they see any."""
        for id in self.projects.values():
            if self._api.project(id).get("model_version") != version:
                self._api.change_project(id, {"model_version": version})

    # Tasks.

    def read(self) -> None:
        """Read all that there is."""
        self.places = {}
        for project in self.projects.values():
            for raw in self._api.tasks(project):
                self._put(LabelStudioTask.read(raw))

    def read_some(self, ids: Iterable[int]) -> None:
        """Read some tasks again; those that are gone are forgotten."""
        for id in ids:
            self.places.pop(id, None)
            try:
                place = LabelStudioTask.read(self._api.task(id))
            except Missing:
                continue
            if place is not None and place.project in self.projects.values():
                self._put(place)

    def _put(self, place: LabelStudioTask | None) -> None:
        if place is not None:
            self.places[place.id] = place

    def firsts(self) -> dict[int, dict[str, LabelStudioTask]]:
        """The places of each project by task; of two alike, the first."""
        found: dict[int, dict[str, LabelStudioTask]] = {each: {} for each in self.projects.values()}
        for place in sorted(self.places.values(), key=lambda each: each.id):
            found.setdefault(place.project, {}).setdefault(place.task, place)
        return found

    def drop_copies(self) -> int:
        """Remove tasks that were imported twice and that nobody has touched; tells how many."""
        firsts = self.firsts()
        copies = [
            place
            for place in self.places.values()
            if firsts[place.project][place.task] is not place
            and not place.submissions
            and not place.draft
        ]
        for place in copies:
            self._api.delete_task(place.id)
            del self.places[place.id]
        return len(copies)

    def import_tasks(self, project: int, tasks: Mapping[str, Any]) -> None:
        """Add tasks, by id with their payloads, and read the project again."""
        rows = [{"data": self._form.data(task, payload)} for task, payload in tasks.items()]
        for begin in range(0, len(rows), BATCH):
            self._api.import_tasks(project, rows[begin : begin + BATCH])
        for raw in self._api.tasks(project):
            self._put(LabelStudioTask.read(raw))

    def open(self, place: LabelStudioTask, overlap: int) -> bool:
        """Let a task have this many annotations; tells whether that is a change."""
        # Label Studio does not look again whether a task is done when its overlap is changed.
        done = place.answered >= overlap
        if (place.overlap, place.labelled) == (overlap, done):
            return False
        self._api.change_task(place.id, {"overlap": overlap, "is_labeled": done})
        place.overlap, place.labelled = overlap, done
        return True


def _plain(config: object) -> str:
    """A configuration without the spaces that mean nothing."""
    try:
        return Xml.canonicalize(str(config), strip_text=True)
    except Xml.ParseError:
        return str(config)
