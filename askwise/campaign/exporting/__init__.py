"""A campaign as a folder of tables for other programs, with a card that says what they hold."""

from askwise.campaign.exporting.folder import FORMATS, write_folder
from askwise.campaign.exporting.rows import exported
from askwise.campaign.exporting.schema import TABLES

__all__ = ["FORMATS", "TABLES", "exported", "write_folder"]
