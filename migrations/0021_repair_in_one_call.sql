-- Makes the allocations those of the live objects of one resource. `holders` is an array of {ordinal, namespace, name, revision,
-- values: [{pool, value}]}; an object that was written since is left alone. Answers what was removed, what was added, and what
-- an object states but another holds: of several that state the same value, the first keeps it.
--
-- One call, because it holds the ordering lock: a client that vanished between two statements would stop all writes.
CREATE FUNCTION repair_allocations(of_group text, of_resource text, holders json)
RETURNS TABLE (outcome text, pool text, value text, namespace text, name text)
LANGUAGE plpgsql
SET lock_timeout = '10s'
AS $$
#variable_conflict use_column
DECLARE
    -- The values of unchanged objects; and those objects, also when they hold none.
    stated    json;
    unchanged json;
BEGIN
    -- Writes wait: what is read here must still be so when it is put right.
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    PERFORM assure_durability();
    SELECT coalesce(json_agg(json_build_object('namespace', g.namespace, 'name', g.name)), '[]') INTO unchanged
    FROM json_to_recordset(holders) AS g (namespace text, name text, revision bigint)
    JOIN heads h ON h.api_group = of_group AND h.resource = of_resource AND h.namespace = g.namespace AND h.name = g.name
        AND h.revision = g.revision;
    SELECT coalesce(json_agg(json_build_object(
        'ordinal', g.ordinal, 'namespace', g.namespace, 'name', g.name, 'pool', v.pool, 'value', v.value
    )), '[]') INTO stated
    FROM json_to_recordset(holders) AS g (ordinal int, namespace text, name text, revision bigint, values json)
    JOIN heads h ON h.api_group = of_group AND h.resource = of_resource AND h.namespace = g.namespace AND h.name = g.name
        AND h.revision = g.revision
    CROSS JOIN LATERAL json_to_recordset(g.values) AS v (pool text, value text);

    RETURN QUERY
    DELETE FROM allocations l
    WHERE l.api_group = of_group AND l.resource = of_resource AND (
        NOT EXISTS (
            SELECT FROM heads h
            WHERE h.api_group = l.api_group AND h.resource = l.resource AND h.namespace = l.namespace AND h.name = l.name
        ) OR (
            (l.namespace, l.name) IN (
                SELECT u.namespace, u.name FROM json_to_recordset(unchanged) AS u (namespace text, name text)
            )
            AND (l.namespace, l.name, l.pool, l.value) NOT IN (
                SELECT s.namespace, s.name, s.pool, s.value
                FROM json_to_recordset(stated) AS s (namespace text, name text, pool text, value text)
            )
        )
    )
    RETURNING 'removed', l.pool, l.value, l.namespace, l.name;

    RETURN QUERY
    INSERT INTO allocations AS l (pool, value, api_group, resource, namespace, name, allocated_at)
    SELECT DISTINCT ON (s.pool, s.value) s.pool, s.value, of_group, of_resource, s.namespace, s.name, now()
    FROM json_to_recordset(stated) AS s (ordinal int, namespace text, name text, pool text, value text)
    ORDER BY s.pool, s.value, s.ordinal
    ON CONFLICT DO NOTHING
    RETURNING 'added', l.pool, l.value, l.namespace, l.name;

    RETURN QUERY
    SELECT 'contested', s.pool, s.value, s.namespace, s.name
    FROM json_to_recordset(stated) AS s (ordinal int, namespace text, name text, pool text, value text)
    JOIN allocations l ON l.pool = s.pool AND l.value = s.value
    WHERE (l.api_group, l.resource, l.namespace, l.name) <> (of_group, of_resource, s.namespace, s.name)
    ORDER BY s.ordinal, s.pool, s.value;
END $$;
