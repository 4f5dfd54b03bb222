-- Values that one object of the cluster holds at a time: cluster IPs, node ports.
--
-- Rows are written by commit_revisions, in the transaction of the revision that claims or releases the value, so that no
-- server can hand out what another one has, and nothing stays behind what is gone.
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

-- As before, and: a write may carry `holds`, an array of {pool, value, kept}: all values the object holds once it is written.
-- What it held besides is released. A value that is not `kept` from before must be free: a write that claims one which
-- another object holds fails alone, and the answer says which value it was. Without `holds`, nothing changes hands.
--
-- No two writes of one batch may claim the same value.
DROP FUNCTION commit_revisions(json, json[]);
CREATE FUNCTION commit_revisions(batch json, objects json[])
RETURNS TABLE (ordinal integer, accepted_revision bigint, live_revision bigint, taken_pool text, taken_value text)
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
                username text, user_agent text, source_address text, request_id text, field_manager text, holds json
            )
        ) AS w (object)
        LEFT JOIN heads h USING (api_group, resource, namespace, name)
        ORDER BY w.ordinal
    ), held AS MATERIALIZED (
        SELECT c.ordinal, v.pool, v.value, v.kept, l.value IS NULL AS free,
            (l.api_group, l.resource, l.namespace, l.name) IS DISTINCT FROM
            (c.api_group, c.resource, c.namespace, c.name) AS foreign_to_it
        FROM checked c
        CROSS JOIN LATERAL json_to_recordset(c.holds) AS v (pool text, value text, kept boolean)
        LEFT JOIN allocations l ON l.pool = v.pool AND l.value = v.value
        WHERE c.holds IS NOT NULL
    ), refused AS MATERIALIZED (
        SELECT DISTINCT ON (ordinal) ordinal, pool, value
        FROM held
        WHERE NOT kept AND NOT free AND foreign_to_it
    ), accepted AS MATERIALIZED (
        SELECT nextval('revisions_revision_seq') AS id, c.*
        FROM checked c
        WHERE c.live IS NOT DISTINCT FROM c.expected
          AND NOT EXISTS (SELECT FROM refused r WHERE r.ordinal = c.ordinal)
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
    ), claimed AS (
        INSERT INTO allocations (pool, value, api_group, resource, namespace, name, allocated_at)
        SELECT v.pool, v.value, a.api_group, a.resource, a.namespace, a.name, moment
        FROM accepted a
        JOIN held v ON v.ordinal = a.ordinal
        WHERE v.free
    ), released AS (
        DELETE FROM allocations l
        USING accepted a
        WHERE a.holds IS NOT NULL
          AND l.api_group = a.api_group AND l.resource = a.resource
          AND l.namespace = a.namespace AND l.name = a.name
          AND NOT EXISTS (
              SELECT FROM held v WHERE v.ordinal = a.ordinal AND v.pool = l.pool AND v.value = l.value
          )
    )
    SELECT c.ordinal, a.id, c.live, r.pool, r.value
    FROM checked c
    LEFT JOIN accepted a ON a.ordinal = c.ordinal
    LEFT JOIN refused r ON r.ordinal = c.ordinal AND c.live IS NOT DISTINCT FROM c.expected;
END $$;
