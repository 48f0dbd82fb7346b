-- What is no part of a campaign: keys, tokens, sessions, webhooks. body: JSON.
CREATE TABLE records (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (kind, id)
) WITHOUT ROWID;
