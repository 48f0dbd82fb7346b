"""The loop beside the runner: Label Studio is looked at when it calls, and now and then."""

import logging
import threading
from collections.abc import Callable, Mapping
from time import monotonic

from askwise.campaign import Campaign
from askwise.core.choices import Done
from askwise.core.errors import AskwiseError, Conflict, InvalidParameter
from askwise.running.claims import RENEWAL, RunClaim
from askwise.running.label_studio.counts import SyncCounts
from askwise.running.label_studio.receiver import ACTIONS, ChangeSignal, Receiver
from askwise.running.label_studio.sync import Synchroniser
from askwise.running.starting import run
from askwise.running.writing import MENDABLE
from askwise.sources import Source
from askwise.sources.label_studio import (
    LabelStudio,
    LabelStudioApi,
    LabelStudioUnreachable,
    LabelStudioWebhook,
)

log = logging.getLogger(__name__)

CLAIM = "label-studio"
"""What is claimed of a campaign, beside its runner's claim: models are called all the same."""


class LabelStudioBridge:
    """Has a campaign's people answer in Label Studio, until nobody is asked any more.

    Parameters
    ----------
    campaign : Campaign
        With content and tasks.
    settings : LabelStudio
        Where Label Studio is.
    judges : mapping of a worker's id to the source that answers for them, optional
        Models that are called meanwhile; their verdicts are written as predictions.
    watch : callable, optional
        Called after every look with what was done so far.
    stay : bool
        Whether to go on when the campaign is done, for answers that are changed later.
    api : LabelStudioApi, optional
        Requests; made from the settings by default.
    """

    def __init__(
        self,
        campaign: Campaign,
        settings: LabelStudio,
        *,
        judges: Mapping[str, Source] | None = None,
        watch: Callable[[SyncCounts], None] | None = None,
        stay: bool = False,
        api: LabelStudioApi | None = None,
    ) -> None:
        settings.check()
        self._campaign = campaign
        self._settings = settings
        self._judges = dict(judges or {})
        self._watch = watch
        self._stay = stay
        self._api = api or LabelStudioApi(settings.url, settings.token())
        self._claim = RunClaim(campaign.store, f"{campaign.name}/{CLAIM}")
        self._signal = ChangeSignal()
        self._stop = threading.Event()
        self._over = threading.Event()
        """Set when the threads beside the loop are to end."""
        self._broken: BaseException | None = None
        """What ended the judges, if that was a fault."""
        self._sync = Synchroniser(campaign, settings, self._api, hold=self._hold)
        self._hooked: set[int] = set()

    @property
    def counts(self) -> SyncCounts:
        """What was done so far."""
        return self._sync.counts

    @property
    def places(self) -> list[str]:
        """The addresses of the projects in which people answer, once they are known."""
        base = self._settings.url.rstrip("/")
        return [f"{base}/projects/{each}" for each in sorted(self._sync.board.projects.values())]

    def stop(self) -> None:
        """End after what is under way."""
        self._stop.set()
        self._signal.wake()

    def once(self) -> SyncCounts:
        """Look once, and bring both sides in step.

        Raises
        ------
        Conflict
            Another process keeps the campaign in step (``already_running``).
        """
        self._claim.take()
        try:
            self._sync.whole()
        finally:
            self._claim.release(self.counts.to_json())
            self._api.close()
        return self.counts

    def run(self) -> Done | None:
        """Go on until the campaign is done, or until :meth:`stop`; says why it is done.

        None if it was stopped.

        Raises
        ------
        Conflict
            Another process keeps the campaign in step, or has taken over.
        """
        self._claim.take()
        beside = [threading.Thread(target=self._keep_claim, daemon=True)]
        if self._judges:
            beside.append(threading.Thread(target=self._call_judges, daemon=True))
        receiver = None
        try:
            receiver = self._listen()
            for thread in beside:
                thread.start()
            return self._loop()
        finally:
            self._over.set()
            if receiver is not None:
                self._unhook()
                receiver.close()
            for thread in beside:
                if thread.ident is not None:
                    thread.join()
            self._claim.release(self.counts.to_json())
            self._api.close()

    def _loop(self) -> Done | None:
        places: set[int] | None = None
        done_before = False
        # When all of it is looked at again, however much is heard until then.
        due = monotonic()
        while not self._stop.is_set():
            if self._broken is not None:
                raise self._broken
            in_step = self._look(places)
            if places is None:
                due = monotonic() + self._settings.poll
            if in_step:
                done = self._campaign.over()
                # One more look writes what the last answers have made of the labels.
                if done is not None and done_before and not self._stay:
                    return done
                done_before, places = done is not None, set()
                if done_before and not self._stay:
                    places = None
                    continue
            else:
                places = None  # whatever was heard, all of it is looked at next time
            self._signal.wait(max(0.0, due - monotonic()))
            heard = self._signal.heard()
            places = None if places is None or monotonic() >= due else heard
        if self._broken is not None:
            raise self._broken
        return None

    def _look(self, places: set[int] | None) -> bool:
        """Bring both sides in step; false if one of them does not answer."""
        try:
            if places is None:
                self._sync.whole()
                self._hook()
            elif places:
                self._sync.some(places)
        except AskwiseError as error:
            if not isinstance(error, LabelStudioUnreachable) and error.reason not in MENDABLE:
                raise
            log.warning("%s; the next look is within %g s", error, self._settings.poll)
            return False
        if self._watch is not None:
            self._watch(self.counts)
        return True

    # The claim.

    def _hold(self) -> None:
        """Make certain that nobody else keeps this campaign in step."""
        if not self._claim.is_held:
            self._claim.renew()

    def _keep_claim(self) -> None:
        while not self._over.wait(RENEWAL):
            try:
                self._claim.renew(self.counts.to_json())
            except Conflict as lost:
                self._broken = lost
                self.stop()
                return
            except AskwiseError as error:
                log.warning("the claim to campaign %r: %s", self._campaign.name, error)

    # Judges.

    def _call_judges(self) -> None:
        try:
            run(self._campaign, self._judges, wait=True, stop=self._over)
        except AskwiseError as error:
            self._broken = error
        self._signal.note(None)

    # The webhook.

    def _listen(self) -> Receiver | None:
        hook = self._settings.webhook
        if not isinstance(hook, LabelStudioWebhook):
            return None
        return Receiver(hook.address(), hook.header, hook.secret(), self._signal)

    def _hook(self) -> None:
        """Have Label Studio call about projects of which it does not yet."""
        hook = self._settings.webhook
        if not isinstance(hook, LabelStudioWebhook):
            return
        for project in set(self._sync.board.projects.values()) - self._hooked:
            fields = {
                "url": hook.url,
                "project": project,
                "headers": {hook.header: hook.secret()},
                "is_active": True,
                "send_payload": True,
                "send_for_all_actions": False,
                "actions": list(ACTIONS),
            }
            known = [each for each in self._api.webhooks(project) if each.get("url") == hook.url]
            try:
                if known:
                    self._api.change_webhook(int(known[0]["id"]), fields)
                else:
                    self._api.create_webhook(fields)
            except InvalidParameter as refused:
                raise InvalidParameter(
                    f"webhook.url is {hook.url!r}, which Label Studio does not call: {refused}. To "
                    "addresses of its own machine or network it does so only when it is started "
                    "with SSRF_PROTECTION_ENABLED=false; without [webhook] askwise looks now and "
                    "then",
                    field="webhook.url",
                ) from None
            self._hooked.add(project)

    def _unhook(self) -> None:
        """Have Label Studio call no more: it waits for every call."""
        hook = self._settings.webhook
        for project in self._hooked:
            try:
                for each in self._api.webhooks(project):
                    if isinstance(hook, LabelStudioWebhook) and each.get("url") == hook.url:
                        self._api.change_webhook(int(each["id"]), {"is_active": False})
            except AskwiseError as error:
                log.warning("the webhook of project %d stays: %s", project, error)
