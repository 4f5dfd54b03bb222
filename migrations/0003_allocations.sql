-- Values that one object of the cluster holds at a time: cluster IPs, node ports.
--
-- Rows are written by commit_holding_revisions, in the transaction of the revision that claims or releases the value, so that
-- no server can hand out what another one has, and nothing stays behind what is gone.
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

-- commit_revisions for batches in which writes carry `holds`, an array of {pool, value, kept}: all values the object holds
-- once it is written. What it held besides is released. A value that is not `kept` from before must be free: a write that
-- claims one which another object holds fails alone, and the answer says which value it was. Without `holds`, nothing changes
-- hands. No two writes of one batch may claim the same value.
--
-- It is a function of its own so that the writes of everything else, which are nearly all, do not pay for it.
CREATE FUNCTION commit_holding_revisions(batch json, objects json[])
RETURNS TABLE (ordinal integer, accepted_revision bigint, live_revision bigint, taken_pool text, taken_value text)
LANGUAGE plpgsql
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
#variable_conflict use_column
BEGIN
    -- The lock of commit_revisions, taken before anything is looked at. Below, what is not refused is asked for rather than
    -- what is accepted: that is looked up in a hash, where joins of the batch with itself would be quadratic.
    PERFORM pg_advisory_xact_lock(hashtext('pg-apiserver'), hashtext('commit_revisions'));
    RETURN QUERY
    WITH writes AS MATERIALIZED (
        SELECT w.*
        FROM ROWS FROM (
            unnest(objects),
            json_array_elements(batch),
            json_to_recordset(batch) AS (
                ordinal integer, api_group text, resource text, namespace text, name text, holds json
            )
        ) AS w (object, element)
    ), held AS MATERIALIZED (
        SELECT w.ordinal, w.api_group, w.resource, w.namespace, w.name, v.pool, v.value, v.kept, l.value IS NULL AS free,
            (l.api_group, l.resource, l.namespace, l.name) IS DISTINCT FROM
            (w.api_group, w.resource, w.namespace, w.name) AS foreign_to_it
        FROM writes w
        CROSS JOIN LATERAL json_to_recordset(w.holds) AS v (pool text, value text, kept boolean)
        LEFT JOIN allocations l ON l.pool = v.pool AND l.value = v.value
        WHERE w.holds IS NOT NULL
    ), taken AS MATERIALIZED (
        SELECT DISTINCT ON (ordinal) ordinal, pool, value
        FROM held
        WHERE NOT kept AND NOT free AND foreign_to_it
    ), open AS MATERIALIZED (
        SELECT json_agg(w.element ORDER BY w.ordinal) AS batch, array_agg(w.object ORDER BY w.ordinal) AS objects
        FROM writes w
        WHERE w.ordinal NOT IN (SELECT ordinal FROM taken)
        HAVING count(*) > 0
    ), committed AS MATERIALIZED (
        SELECT c.ordinal, c.accepted_revision, c.live_revision
        FROM open o
        CROSS JOIN LATERAL commit_revisions(o.batch, o.objects) c
    ), refused AS MATERIALIZED (
        SELECT ordinal FROM taken
        UNION ALL
        SELECT ordinal FROM committed WHERE accepted_revision IS NULL
    ), claimed AS (
        INSERT INTO allocations (pool, value, api_group, resource, namespace, name, allocated_at)
        SELECT v.pool, v.value, v.api_group, v.resource, v.namespace, v.name, clock_timestamp()
        FROM held v
        WHERE v.free AND v.ordinal NOT IN (SELECT ordinal FROM refused)
    ), released AS (
        DELETE FROM allocations l
        USING writes w
        WHERE w.holds IS NOT NULL AND w.ordinal NOT IN (SELECT ordinal FROM refused)
          AND l.api_group = w.api_group AND l.resource = w.resource
          AND l.namespace = w.namespace AND l.name = w.name
          AND NOT EXISTS (
              SELECT FROM held v WHERE v.ordinal = w.ordinal AND v.pool = l.pool AND v.value = l.value
          )
    )
    SELECT c.ordinal, c.accepted_revision, c.live_revision, NULL, NULL FROM committed c
    UNION ALL
    SELECT n.ordinal, NULL, NULL, n.pool, n.value FROM taken n;
END $$;
