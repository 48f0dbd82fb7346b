CREATE TABLE campaigns (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    spec TEXT NOT NULL,
    created REAL NOT NULL
);

-- body: the event as JSON without the columns beside it.
CREATE TABLE events (
    campaign INTEGER NOT NULL REFERENCES campaigns (id),
    seq INTEGER NOT NULL CHECK (seq > 0),
    kind TEXT NOT NULL,
    time REAL NOT NULL,
    key TEXT,
    body TEXT NOT NULL,
    PRIMARY KEY (campaign, seq)
) WITHOUT ROWID;

-- The first result of each keyed write; a retry is answered from here.
CREATE TABLE replies (
    campaign INTEGER NOT NULL REFERENCES campaigns (id),
    key TEXT NOT NULL,
    request TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (campaign, key)
) WITHOUT ROWID;

-- With row ids: blobs are large, and the search for the newest should not wade through them.
CREATE TABLE snapshots (
    campaign INTEGER NOT NULL REFERENCES campaigns (id),
    version TEXT NOT NULL,
    seq INTEGER NOT NULL CHECK (seq >= 0),
    blob BLOB NOT NULL,
    PRIMARY KEY (campaign, version, seq)
);
