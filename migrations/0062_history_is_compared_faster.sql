-- beside: 44
--
-- Two states of an object are compared in a third of the time, and blame reads each state once. What they answer stays as it is.

-- As before (0055), but fields that the first element lacks are not looked for in the others.
CREATE OR REPLACE FUNCTION keys_of(list jsonb, other jsonb DEFAULT NULL) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT k.fields
    FROM (VALUES
        (1, '{name}'::text[]), (2, '{type}'), (3, '{containerPort,protocol}'), (4, '{port,protocol}'), (5, '{mountPath}'),
        (6, '{devicePath}'), (7, '{topologyKey,whenUnsatisfiable}'), (8, '{key}'), (9, '{ip}'), (10, '{uid}'), (11, '{id}'),
        (12, '{containerPort}'), (13, '{port}'), (14, '{host}'), (15, '{path}')
    ) AS k (preference, fields)
    WHERE coalesce(keys_of.list -> 0 ?& k.fields, true) AND coalesce(keys_of.other -> 0 ?& k.fields, true) AND (
        -- There are two fields at most.
        SELECT bool_and(jsonb_typeof(e.element) = 'object' AND e.element ?& k.fields)
            AND count(*) = count(DISTINCT (e.list, e.element -> k.fields[1], e.element -> k.fields[2]))
        FROM (
            SELECT 1 AS list, a.element FROM jsonb_array_elements(keys_of.list) AS a (element)
            UNION ALL
            SELECT 2, b.element FROM jsonb_array_elements(keys_of.other) AS b (element)
        ) e
    )
    ORDER BY k.preference
    LIMIT 1
$$;

-- As before (0055), without an aggregate for each element: there are two keys at most.
CREATE OR REPLACE FUNCTION parts_of(parent text, value jsonb, keys text[]) RETURNS TABLE (path text, part jsonb)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
ROWS 10
AS $$
    SELECT path_of(parent, m.key), m.value
    FROM jsonb_each(CASE WHEN jsonb_typeof(value) = 'object' THEN value END) m
    UNION ALL
    SELECT
        parent || '[' || coalesce(
            nullif(
                concat_ws(',', keys[1] || '=' || (l.element ->> keys[1]), keys[2] || '=' || (l.element ->> keys[2])), ''
            ),
            (l.place - 1)::text
        ) || ']',
        l.element
    FROM jsonb_array_elements(CASE WHEN jsonb_typeof(value) = 'array' THEN value END) WITH ORDINALITY AS l (element, place)
$$;

-- As before (0055): `old` is null for what is new, `new` for what is gone; the path of the whole object is ''. The fields of an object
-- are compared one by one, in place of a join for each object, and managed fields are left out where they are met, not by copies of
-- both states: a third of the time.
CREATE OR REPLACE FUNCTION changes_between(before jsonb, after jsonb) RETURNS TABLE (path text, old jsonb, new jsonb)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
ROWS 5
AS $$
    WITH RECURSIVE walk AS (
        SELECT '' AS path, w.was, w.becomes, has_parts(w.was) AND has_parts(w.becomes) AS goes_on
        -- Apart, because the planner would put what is compared into the place of each use.
        FROM (SELECT before AS was, after AS becomes OFFSET 0) w
        WHERE w.was IS DISTINCT FROM w.becomes
        UNION ALL
        SELECT
            p.path, p.was, p.becomes,
            jsonb_typeof(p.was) = jsonb_typeof(p.becomes) AND has_parts(p.was) AND has_parts(p.becomes)
        FROM walk w
        CROSS JOIN LATERAL (
            SELECT path_of(w.path, a.key) AS path, a.was, a.becomes
            FROM (
                SELECT
                    f.key,
                    CASE WHEN w.path = '' AND f.key = 'metadata' AND jsonb_typeof(w.was -> f.key) = 'object'
                        THEN (w.was -> f.key) - 'managedFields' ELSE w.was -> f.key END AS was,
                    CASE WHEN w.path = '' AND f.key = 'metadata' AND jsonb_typeof(f.value) = 'object'
                        THEN f.value - 'managedFields' ELSE f.value END AS becomes
                FROM jsonb_each(CASE WHEN jsonb_typeof(w.becomes) = 'object' THEN w.becomes END) f
            ) a
            WHERE a.was IS DISTINCT FROM a.becomes
            UNION ALL
            SELECT
                path_of(w.path, b.key),
                CASE WHEN w.path = '' AND b.key = 'metadata' AND jsonb_typeof(b.value) = 'object'
                    THEN b.value - 'managedFields' ELSE b.value END,
                NULL
            FROM jsonb_each(CASE WHEN jsonb_typeof(w.was) = 'object' THEN w.was END) b
            WHERE NOT w.becomes ? b.key
            UNION ALL
            SELECT l.path, l.was, l.becomes
            FROM (SELECT keys_of(w.was, w.becomes) AS keys WHERE jsonb_typeof(w.was) = 'array' OFFSET 0) k
            CROSS JOIN LATERAL (
                SELECT path, b.part AS was, a.part AS becomes
                FROM parts_of(w.path, w.was, k.keys) b
                FULL JOIN parts_of(w.path, w.becomes, k.keys) a USING (path)
                WHERE b.part IS DISTINCT FROM a.part
            ) l
        ) p
        WHERE w.goes_on
    )
    SELECT
        w.path,
        CASE w.path WHEN '' THEN w.was #- '{metadata,managedFields}' ELSE w.was END,
        CASE w.path WHEN '' THEN w.becomes #- '{metadata,managedFields}' ELSE w.becomes END
    FROM walk w
    WHERE w.goes_on IS NOT TRUE
$$;

-- As before (0055), but each state is read once, though it is the new one of a change and the old one of the next; and a field is
-- looked for by its name and those of all that it is in.
CREATE OR REPLACE FUNCTION blame_of(of_group text, of_resource text, of_namespace text, of_name text)
RETURNS TABLE (path text, value jsonb, revision bigint, at timestamptz, who text, manager text)
LANGUAGE sql STABLE
ROWS 50
SET jit = off
SET work_mem = '64MB'
AS $$
    WITH leaves AS MATERIALIZED (
        SELECT l.path, l.value
        FROM current_objects o
        CROSS JOIN LATERAL leaves_of(as_jsonb(o.object)) l
        WHERE o.api_group = of_group AND o.resource = of_resource AND o.namespace = of_namespace AND o.name = of_name
    ), states AS MATERIALIZED (
        SELECT h.revision, h.at, h.who, h.manager, h.verb, h.previous_revision, as_jsonb(h.object) AS object
        FROM history h
        WHERE h.api_group = of_group AND h.resource = of_resource AND h.namespace = of_namespace AND h.name = of_name
    ), pairs AS (
        SELECT
            s.revision, s.verb, s.previous_revision, s.object,
            lag(s.revision) OVER log AS last_revision, lag(s.object) OVER log AS last_object
        FROM states s
        WINDOW log AS (ORDER BY s.revision)
    ), made AS (
        SELECT c.path, max(p.revision) AS revision
        FROM pairs p
        -- A state that the log has elsewhere, or no more. Apart, because a function whose arguments are queries is called row by row.
        LEFT JOIN LATERAL (
            SELECT as_jsonb(b.object) AS object FROM (
                SELECT e.object FROM history e WHERE e.revision = p.previous_revision
                UNION ALL
                SELECT e.object FROM superseded_objects e WHERE e.revision = p.previous_revision
            ) b
            WHERE p.previous_revision IS DISTINCT FROM p.last_revision
            LIMIT 1
        ) k ON true
        CROSS JOIN LATERAL changes_between(
            CASE WHEN p.previous_revision = p.last_revision THEN p.last_object ELSE k.object END,
            CASE WHEN p.verb <> 'delete' THEN p.object END
        ) c
        GROUP BY c.path
    ), set_by AS (
        SELECT l.path, max(m.revision) AS revision
        FROM leaves l
        CROSS JOIN LATERAL generate_series(1, length(l.path) + 1) AS g (place)
        JOIN made m ON m.path = left(l.path, g.place - 1)
        WHERE g.place IN (1, length(l.path) + 1) OR substr(l.path, g.place, 1) IN ('.', '[')
        GROUP BY l.path
    )
    SELECT l.path, l.value, s.revision, s.at, s.who, s.manager
    FROM leaves l
    LEFT JOIN set_by b ON b.path = l.path
    LEFT JOIN states s ON s.revision = b.revision
    ORDER BY l.path
$$;
