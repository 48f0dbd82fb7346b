"""Label Studio: people who annotate there, its interface, and questions in its form."""

from askwise.sources.label_studio.api import LabelStudioApi, Missing, Unreachable
from askwise.sources.label_studio.forms import TASK, LabelStudioForm
from askwise.sources.label_studio.source import LabelStudio, Webhook, read_label_studio

__all__ = [
    "TASK",
    "LabelStudio",
    "LabelStudioApi",
    "LabelStudioForm",
    "Missing",
    "Unreachable",
    "Webhook",
    "read_label_studio",
]
