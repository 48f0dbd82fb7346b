"""Items in, labels out: what is asked of whom, what it may cost, and what may be believed."""

from askwise.data.items import Items, read_items
from askwise.labelling.costs import CostForecast, forecast
from askwise.labelling.job import LabelJob, kept_command
from askwise.labelling.labels import ItemLabel, LabelledItems, MoreMoney
from askwise.labelling.one_call import label
from askwise.labelling.orders import LabelOrder, with_judges
from askwise.labelling.result import LabelResult
from askwise.labelling.watching import LabelProgress

__all__ = [
    "CostForecast",
    "ItemLabel",
    "Items",
    "LabelJob",
    "LabelOrder",
    "LabelProgress",
    "LabelResult",
    "LabelledItems",
    "MoreMoney",
    "forecast",
    "kept_command",
    "label",
    "read_items",
    "with_judges",
]
