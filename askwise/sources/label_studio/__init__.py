"""Label Studio: people who annotate there, its interface, and questions in its form."""

from askwise.sources.label_studio.api import LabelStudioApi, LabelStudioUnreachable, Missing
from askwise.sources.label_studio.forms import TASK, LabelStudioForm
from askwise.sources.label_studio.source import LabelStudio, LabelStudioWebhook, read_label_studio

__all__ = [
    "TASK",
    "LabelStudio",
    "LabelStudioApi",
    "LabelStudioForm",
    "LabelStudioUnreachable",
    "LabelStudioWebhook",
    "Missing",
    "read_label_studio",
]
