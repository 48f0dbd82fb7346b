-- What is no part of a campaign: keys, tokens, sessions, webhooks. body: JSON.
CREATE TABLE askwise.records (
    kind text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    body text COLLATE "C" NOT NULL,
    PRIMARY KEY (kind, id)
);
