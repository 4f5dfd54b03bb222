-- The live objects, the bytes that they lack for a while, and the values that they hold.

-- The live objects, a row each. A row may lack the bytes of its object: the log has them, in the row of the object's revision. They are
-- brought here later, unless the object was written again meanwhile: what is written often is stored once (fill_objects).
CREATE TABLE objects (
    api_group   text        COLLATE "C" NOT NULL,
    resource    text        COLLATE "C" NOT NULL,
    namespace   text        COLLATE "C" NOT NULL,
    name        text        COLLATE "C" NOT NULL,
    revision    bigint      NOT NULL,
    uid         text        COLLATE "C" NOT NULL,
    expires_at  timestamptz,
    object      json,
    encoded     bytea,
    media_type  text,
    modified_at timestamptz NOT NULL,
    PRIMARY KEY (api_group, resource, namespace, name),
    CHECK (object IS NULL OR encoded IS NULL)
);

CREATE INDEX objects_by_expiry ON objects (expires_at) WHERE expires_at IS NOT NULL;

-- Objects stay in their row, as in the log, and for the same reasons.
--
-- ANALYZE sorts a sample of each column, 300 rows for each point of its target. With the default of 100 that took 0.3 s of CPU, as long
-- as 2,000 writes, each time autovacuum found that a tenth had changed: several times a minute under load. All queries of this table
-- and of the log go by their indexes, in whatever way a column's values are spread; a tenth of the sample takes 0.05 s.
DO $$
DECLARE
    of record;
BEGIN
    IF (SELECT attcompression FROM pg_attribute WHERE attrelid = 'revisions'::regclass AND attname = 'object') = 'l' THEN
        ALTER TABLE objects ALTER COLUMN object SET COMPRESSION lz4, ALTER COLUMN encoded SET COMPRESSION lz4;
        ALTER TABLE objects SET (toast_tuple_target = 4080);
    ELSE
        ALTER TABLE objects ALTER COLUMN object SET STORAGE EXTERNAL, ALTER COLUMN encoded SET STORAGE EXTERNAL;
        ALTER TABLE objects SET (toast_tuple_target = 8160);
    END IF;
    FOR of IN
        SELECT attname AS part FROM pg_attribute WHERE attrelid = 'objects'::regclass AND attnum > 0 AND NOT attisdropped
    LOOP
        EXECUTE format('ALTER TABLE objects ALTER COLUMN %I SET STATISTICS 10', of.part);
    END LOOP;
END $$;

-- What is overwritten here is dead at once. A small object is written beside its older state, which goes with the next write to the
-- page; room for that is what the fill factor leaves. Large ones leave a page each, which vacuum finds: it comes after a
-- fiftieth, not a fifth, and does not rest in between.
ALTER TABLE objects SET (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 500,
    autovacuum_vacuum_cost_delay = 0,
    toast.autovacuum_vacuum_scale_factor = 0.02,
    toast.autovacuum_vacuum_threshold = 500,
    toast.autovacuum_vacuum_cost_delay = 0
);

COMMENT ON TABLE objects IS 'The live objects, one row each. For the bytes of all of them read current_objects.';
COMMENT ON COLUMN objects.revision IS 'Of its last write: the resourceVersion.';
COMMENT ON COLUMN objects.object IS 'Without metadata.resourceVersion, which is the revision. Null, with encoded null as well: the log has it, in the row of this revision.';
COMMENT ON COLUMN objects.encoded IS 'The object in the media type beside it, where it is not stored as JSON.';
COMMENT ON COLUMN objects.media_type IS 'What encoded is: for what is encrypted, with the provider and the key that it was encrypted by.';
COMMENT ON COLUMN objects.modified_at IS 'When its last write was committed.';

-- Which objects have their bytes: all that were last written up to `filled_to`. The walk through the objects that is under way fills
-- what was last written up to `up_to`, and has come to the object with this key; `due` are the next to be filled. One row.
CREATE TABLE filling (
    only_row  boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    filled_to bigint,
    filled_at timestamptz NOT NULL,
    -- That the last walk passed, which is what a walk costs.
    objects   bigint  NOT NULL DEFAULT 0,
    up_to     bigint,
    passed    bigint  NOT NULL DEFAULT 0,
    api_group text    COLLATE "C" NOT NULL DEFAULT '',
    resource  text    COLLATE "C" NOT NULL DEFAULT '',
    namespace text    COLLATE "C" NOT NULL DEFAULT '',
    name      text    COLLATE "C" NOT NULL DEFAULT '',
    due       bigint[] NOT NULL DEFAULT '{}'
) WITH (fillfactor = 10);
INSERT INTO filling (filled_to, filled_at) VALUES (0, clock_timestamp());

COMMENT ON TABLE filling IS 'Which objects have their bytes, and how far the next are on the way to theirs.';

-- Values that one object of the cluster holds at a time: cluster IPs, node ports.
--
-- commit_holding_revisions writes the rows, in the transaction of the revision that claims or releases the value: no server can hand out
-- what another one has, and nothing stays behind when its object goes.
CREATE TABLE allocations (
    pool         text        COLLATE "C" NOT NULL,
    value        text        COLLATE "C" NOT NULL,
    api_group    text        COLLATE "C" NOT NULL,
    resource     text        COLLATE "C" NOT NULL,
    namespace    text        COLLATE "C" NOT NULL,
    name         text        COLLATE "C" NOT NULL,
    allocated_at timestamptz NOT NULL,
    PRIMARY KEY (pool, value)
);

CREATE INDEX allocations_by_holder ON allocations (api_group, resource, namespace, name);

COMMENT ON TABLE allocations IS 'Values that one object of the cluster holds at a time: cluster IPs, node ports.';
COMMENT ON COLUMN allocations.pool IS 'IPv4, IPv6 or NodePort.';
