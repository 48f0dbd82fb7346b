"""A campaign as a folder of tables for other programs, with a card that says what they hold."""

from askwise.campaign.exporting.folder import FORMATS, write_folder
from askwise.campaign.exporting.rows import ExportedCampaign, exported
from askwise.campaign.exporting.schema import TABLES, Column

__all__ = ["FORMATS", "TABLES", "Column", "ExportedCampaign", "exported", "write_folder"]
