-- The log. Every write of the API appends one row; the row's id is the resourceVersion.
--
-- Ids are drawn and committed under one advisory lock (see commit_revisions), so the order of ids is the order of commits
-- and of the WAL, over any number of servers. Aborted transactions leave gaps; gaps mean nothing.
CREATE TABLE revisions (
    revision          bigserial   PRIMARY KEY,
    api_group         text        COLLATE "C" NOT NULL,
    resource          text        COLLATE "C" NOT NULL,
    namespace         text        COLLATE "C" NOT NULL,
    name              text        COLLATE "C" NOT NULL,
    uid               text        COLLATE "C" NOT NULL,
    verb              text        COLLATE "C" NOT NULL CHECK (verb IN ('create', 'update', 'delete')),
    previous_revision bigint,
    object            json,
    encoded           bytea,
    media_type        text,
    committed_at      timestamptz NOT NULL,
    write_id          uuid        NOT NULL,
    expires_at        timestamptz,
    username          text        NOT NULL,
    user_agent        text        NOT NULL,
    source_address    text        NOT NULL,
    request_id        text        NOT NULL,
    field_manager     text        NOT NULL,
    CHECK ((object IS NULL) <> (encoded IS NULL))
);

-- Objects are compressed where PostgreSQL stores them out of line; lz4 costs a fraction of the default and is what every
-- supported server is built with. Where it is not, the default stays.
DO $$
BEGIN
    ALTER TABLE revisions ALTER COLUMN object SET COMPRESSION lz4;
    ALTER TABLE revisions ALTER COLUMN encoded SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN
    NULL;
END $$;

-- The history of one object, and the state of a resource at a revision (the newest row at or below it for each key).
CREATE INDEX revisions_by_object ON revisions (api_group, resource, namespace, name, revision DESC);

-- Which row of the log is the current state of each live object. Narrow on purpose: the object itself is in the log, so a
-- write stores it once, and an update of a head is a heap-only one.
CREATE TABLE heads (
    api_group  text        COLLATE "C" NOT NULL,
    resource   text        COLLATE "C" NOT NULL,
    namespace  text        COLLATE "C" NOT NULL,
    name       text        COLLATE "C" NOT NULL,
    revision   bigint      NOT NULL,
    uid        text        COLLATE "C" NOT NULL,
    expires_at timestamptz,
    PRIMARY KEY (api_group, resource, namespace, name)
) WITH (fillfactor = 70);

CREATE INDEX heads_by_expiry ON heads (expires_at) WHERE expires_at IS NOT NULL;

-- How far history has been cut off. One row.
CREATE TABLE compaction (
    only_row     boolean     PRIMARY KEY DEFAULT true CHECK (only_row),
    revision     bigint      NOT NULL,
    committed_at timestamptz NOT NULL,
    compacted_at timestamptz NOT NULL
);
INSERT INTO compaction (revision, committed_at, compacted_at) VALUES (0, '-infinity', now());

-- Watches tail inserts into the log and nothing else. Compaction's deletes are not published.
CREATE PUBLICATION pg_apiserver_revisions FOR TABLE revisions WITH (publish = 'insert');

-- Appends a batch of writes in one transaction and answers, for each, its new revision or the revision that is in the way.
--
-- `batch` is an array of {ordinal, verb, api_group, resource, namespace, name, uid, expected, write_id, expires_at, username,
-- user_agent, source_address, request_id, field_manager}, at most one for each key, and `objects` has the object of each in
-- the same order. A write is accepted when the live object's revision is `expected` (null: there is no live object). One that
-- is not fails alone.
--
-- The objects are beside the batch because json_to_recordset unescapes every string below it, and fails on \u0000, which
-- json may hold and text may not.
--
-- The lock is taken in a statement of its own: the next statement then has a snapshot that sees every earlier batch.
-- The planner settings keep the plan an index lookup for each write, whatever the statistics say of a young table.
CREATE FUNCTION commit_revisions(batch json, objects json[])
RETURNS TABLE (ordinal integer, accepted_revision bigint, live_revision bigint)
LANGUAGE plpgsql
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
    moment timestamptz;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('pg-apiserver'), hashtext('commit_revisions'));
    -- Clocks are set back and failovers change clocks; time in the log never runs backwards.
    SELECT greatest(clock_timestamp(), max(r.committed_at)) INTO moment
    FROM (SELECT committed_at FROM revisions ORDER BY revision DESC LIMIT 1) r;
    RETURN QUERY
    WITH checked AS MATERIALIZED (
        SELECT w.*, h.revision AS live
        FROM ROWS FROM (
            unnest(objects),
            json_to_recordset(batch) AS (
                ordinal integer, verb text, api_group text, resource text, namespace text, name text, uid text,
                expected bigint, encoded bytea, media_type text, write_id uuid, expires_at timestamptz,
                username text, user_agent text, source_address text, request_id text, field_manager text
            )
        ) AS w (object)
        LEFT JOIN heads h USING (api_group, resource, namespace, name)
        ORDER BY w.ordinal
    ), accepted AS MATERIALIZED (
        SELECT nextval('revisions_revision_seq') AS id, c.*
        FROM checked c
        WHERE c.live IS NOT DISTINCT FROM c.expected
    ), appended AS (
        INSERT INTO revisions (
            revision, api_group, resource, namespace, name, uid, verb, previous_revision, object, encoded, media_type,
            committed_at, write_id, expires_at, username, user_agent, source_address, request_id, field_manager
        )
        SELECT id, api_group, resource, namespace, name, uid, verb, live, object, encoded, media_type,
            moment, write_id, expires_at, username, user_agent, source_address, request_id, field_manager
        FROM accepted
    ), kept AS (
        INSERT INTO heads AS h (api_group, resource, namespace, name, revision, uid, expires_at)
        SELECT api_group, resource, namespace, name, id, uid, expires_at
        FROM accepted
        WHERE verb <> 'delete'
        ON CONFLICT (api_group, resource, namespace, name)
        DO UPDATE SET revision = excluded.revision, uid = excluded.uid, expires_at = excluded.expires_at
    ), dropped AS (
        DELETE FROM heads h
        USING accepted a
        WHERE a.verb = 'delete'
          AND h.api_group = a.api_group AND h.resource = a.resource
          AND h.namespace = a.namespace AND h.name = a.name
    )
    SELECT c.ordinal, a.id, c.live FROM checked c LEFT JOIN accepted a ON a.ordinal = c.ordinal;
END $$;
