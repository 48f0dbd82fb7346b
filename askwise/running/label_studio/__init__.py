"""Label Studio and a campaign kept in step: tasks and overlaps there, answers here."""

from askwise.running.label_studio.bridge import LabelStudioBridge
from askwise.running.label_studio.counts import SyncCounts, Untaken
from askwise.running.label_studio.sync import Synchroniser

__all__ = ["LabelStudioBridge", "SyncCounts", "Synchroniser", "Untaken"]
