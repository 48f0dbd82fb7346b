-- Text is compared byte by byte ("C"): a new version of the system's collations breaks no index.
CREATE TABLE askwise.campaigns (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE,
    spec text NOT NULL,
    created double precision NOT NULL
);

-- body: the event as JSON without the columns beside it. As text: jsonb refuses an escaped NUL
-- and half of a surrogate pair, and is slower to write.
CREATE TABLE askwise.events (
    campaign bigint NOT NULL REFERENCES askwise.campaigns (id),
    seq bigint NOT NULL CHECK (seq > 0),
    kind text NOT NULL,
    time double precision NOT NULL,
    key text COLLATE "C",
    body text NOT NULL,
    PRIMARY KEY (campaign, seq)
);

-- The first result of each keyed write; a retry is answered from here.
CREATE TABLE askwise.replies (
    campaign bigint NOT NULL REFERENCES askwise.campaigns (id),
    key text COLLATE "C" NOT NULL,
    request text NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (campaign, key)
);

CREATE TABLE askwise.snapshots (
    campaign bigint NOT NULL REFERENCES askwise.campaigns (id),
    version text COLLATE "C" NOT NULL,
    seq bigint NOT NULL CHECK (seq >= 0),
    blob bytea NOT NULL,
    PRIMARY KEY (campaign, version, seq)
);

-- Blobs come compressed.
ALTER TABLE askwise.snapshots ALTER COLUMN blob SET STORAGE EXTERNAL;
