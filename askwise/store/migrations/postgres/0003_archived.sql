-- Where the log of a campaign was moved to, as JSON; NULL while it is here. On this row, so that a
-- writer who waited for its lock sees it.
ALTER TABLE askwise.campaigns ADD COLUMN archived text;
