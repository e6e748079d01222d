-- The file of batches, which serves all runs of a cache: `ufo.transforms.llm.batch_store`.

PRAGMA auto_vacuum = FULL;
PRAGMA journal_mode = WAL;
BEGIN IMMEDIATE;

-- The requests of a run. `place` is the endpoint as JSON. `state` is `new`, `sent` in a batch, or
-- `answered`; some files also have `again`. After `tries` errors without a reply of the model
-- it is asked again. `usage` is its row of the table `usage`, `usd` the most that it may cost.
CREATE TABLE IF NOT EXISTS requests (
    run TEXT, key TEXT, place TEXT, state TEXT, tries INTEGER, body BLOB, usage TEXT, batch TEXT,
    usd REAL, reply BLOB, PRIMARY KEY (run, key)
);
CREATE INDEX IF NOT EXISTS by_batch ON requests (batch);
CREATE INDEX IF NOT EXISTS by_state ON requests (run, state);

-- The batches of a run, as fields of `Batch`.
CREATE TABLE IF NOT EXISTS batches (
    name TEXT PRIMARY KEY, run TEXT, place TEXT, round INTEGER, requests INTEGER, submitted REAL,
    id TEXT, done INTEGER, ended REAL
);

-- The judgements that responses ask for. Once a claim is `settled`, others may ask for it.
CREATE TABLE IF NOT EXISTS claims (
    run TEXT, key TEXT, owner TEXT, settled INTEGER, PRIMARY KEY (run, key)
);

-- Files with 0 have the same tables.
PRAGMA user_version = 1;
COMMIT;
