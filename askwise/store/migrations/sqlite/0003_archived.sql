-- Where the log of a campaign was moved to, as JSON; NULL while it is here.
ALTER TABLE campaigns ADD COLUMN archived TEXT;
