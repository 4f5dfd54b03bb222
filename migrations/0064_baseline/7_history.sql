-- The past: an object, a namespace and the cluster at any moment inside the window, and what changed, field by field.

-- Refuses questions about a past that compaction has removed.
CREATE FUNCTION assert_in_history(at bigint) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
    oldest bigint;
BEGIN
    SELECT revision INTO STRICT oldest FROM compaction;
    IF at IS NULL OR at < oldest THEN
        RAISE EXCEPTION 'revision % is older than the history that is kept', coalesce(at::text, '(none)')
            USING HINT = format('Ask for revision %s or later, or run the servers with a longer --history-window.', oldest);
    END IF;
    RETURN at;
END $$;

-- object_at, cluster_at and cluster_diff take a revision or a moment, and PostgreSQL cannot choose between the two for a text that has no
-- type yet, such as '2026-11-21 09:00'. It prefers a function that takes text: the variants that do read it by this.
CREATE FUNCTION revision_of(at text) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF at ~ '^\s*\d+\s*$' THEN
        RETURN at::bigint;
    END IF;
    RETURN revision_at(at::timestamptz);
END $$;

COMMENT ON FUNCTION revision_of(text) IS 'The revision that is meant by its number, or by a moment: the newest one then.';

-- The state of one object: where it has not changed since, it is among the objects; else in the log, or kept beside it. A column of history
-- is named like the parameter.
CREATE FUNCTION object_at(of_group text, of_resource text, of_namespace text, of_name text, at bigint) RETURNS json
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN s.verb = 'delete' THEN NULL ELSE s.object END
    FROM (
        (
            SELECT r.revision, r.verb, r.object
            FROM history r
            WHERE r.api_group = of_group AND r.resource = of_resource AND r.namespace = of_namespace AND r.name = of_name
              AND r.revision <= (SELECT assert_in_history(object_at.at))
            ORDER BY r.revision DESC
            LIMIT 1
        )
        UNION ALL
        SELECT p.revision, 'update', p.object
        FROM superseded_objects p
        WHERE p.api_group = of_group AND p.resource = of_resource AND p.namespace = of_namespace AND p.name = of_name
          AND p.revision <= (SELECT assert_in_history(object_at.at)) AND p.superseded_by > object_at.at
        UNION ALL
        SELECT o.revision, 'update', o.object
        FROM current_objects o
        WHERE o.api_group = of_group AND o.resource = of_resource AND o.namespace = of_namespace AND o.name = of_name
          AND o.revision <= (SELECT assert_in_history(object_at.at))
    ) s
    ORDER BY s.revision DESC
    LIMIT 1
$$;

CREATE FUNCTION object_at(of_group text, of_resource text, of_namespace text, of_name text, moment timestamptz) RETURNS json
LANGUAGE sql STABLE AS $$
    SELECT object_at(of_group, of_resource, of_namespace, of_name, revision_at(moment))
$$;

CREATE FUNCTION object_at(of_group text, of_resource text, of_namespace text, of_name text, at text) RETURNS json
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN object_at(of_group, of_resource, of_namespace, of_name, revision_of(at));
END $$;

COMMENT ON FUNCTION object_at(text, text, text, text, text) IS 'An object as it was at a revision or a moment, written as text.';

-- What has not changed since, and what the first change since has replaced. Each replaced state is looked up by itself: the planner does not
-- read the log for them.
CREATE FUNCTION cluster_at(at bigint)
RETURNS TABLE (api_group text, resource text, namespace text, name text, uid text, revision bigint, object json)
LANGUAGE sql STABLE AS $$
    SELECT o.api_group, o.resource, o.namespace, o.name, o.uid, o.revision, o.object
    FROM current_objects o
    WHERE o.revision <= (SELECT assert_in_history(cluster_at.at))
    UNION ALL
    SELECT r.api_group, r.resource, r.namespace, r.name, p.uid, p.revision, p.object
    FROM history r
    CROSS JOIN LATERAL (
        SELECT h.uid, h.revision, h.object FROM history h WHERE h.revision = r.previous_revision LIMIT 1
    ) p
    WHERE r.revision > (SELECT assert_in_history(cluster_at.at)) AND r.previous_revision <= cluster_at.at
      AND r.previous_revision >= (SELECT b.low FROM log_bounds b)
    UNION ALL
    SELECT p.api_group, p.resource, p.namespace, p.name, p.uid, p.revision, p.object
    FROM superseded_objects p
    WHERE p.superseded_by > (SELECT assert_in_history(cluster_at.at)) AND p.revision <= cluster_at.at
      AND p.revision < (SELECT b.low FROM log_bounds b)
$$;

-- Written out: as a call of the other, the moment would be looked up anew for every row of the log.
CREATE FUNCTION cluster_at(moment timestamptz)
RETURNS TABLE (api_group text, resource text, namespace text, name text, uid text, revision bigint, object json)
LANGUAGE sql STABLE AS $$
    SELECT o.api_group, o.resource, o.namespace, o.name, o.uid, o.revision, o.object
    FROM current_objects o
    WHERE o.revision <= (SELECT assert_in_history(revision_at(cluster_at.moment)))
    UNION ALL
    SELECT r.api_group, r.resource, r.namespace, r.name, p.uid, p.revision, p.object
    FROM history r
    CROSS JOIN LATERAL (
        SELECT h.uid, h.revision, h.object FROM history h WHERE h.revision = r.previous_revision LIMIT 1
    ) p
    WHERE r.revision > (SELECT assert_in_history(revision_at(cluster_at.moment)))
      AND r.previous_revision <= (SELECT assert_in_history(revision_at(cluster_at.moment)))
      AND r.previous_revision >= (SELECT b.low FROM log_bounds b)
    UNION ALL
    SELECT p.api_group, p.resource, p.namespace, p.name, p.uid, p.revision, p.object
    FROM superseded_objects p
    WHERE p.superseded_by > (SELECT assert_in_history(revision_at(cluster_at.moment)))
      AND p.revision <= (SELECT assert_in_history(revision_at(cluster_at.moment)))
      AND p.revision < (SELECT b.low FROM log_bounds b)
$$;

CREATE FUNCTION cluster_at(at text)
RETURNS TABLE (api_group text, resource text, namespace text, name text, uid text, revision bigint, object json)
LANGUAGE plpgsql STABLE
ROWS 1000
AS $$
DECLARE
    then_at bigint := revision_of(at);
BEGIN
    RETURN QUERY SELECT * FROM cluster_at(then_at);
END $$;

COMMENT ON FUNCTION cluster_at(text) IS 'All objects as they were at a revision or a moment, written as text.';

-- The resources that objects, log or what is kept beside it have something of: each step looks up the next one.
CREATE FUNCTION resources_in_history() RETURNS TABLE (api_group text, resource text)
LANGUAGE sql STABLE
ROWS 50
SET enable_sort = off
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
    WITH RECURSIVE found AS (
        SELECT '' COLLATE "C" AS api_group, '' COLLATE "C" AS resource
        UNION ALL
        SELECT next.api_group, next.resource
        FROM found f
        CROSS JOIN LATERAL (
            (
                SELECT h.api_group, h.resource FROM history h
                WHERE (h.api_group, h.resource) > (f.api_group, f.resource)
                ORDER BY h.api_group, h.resource
                LIMIT 1
            )
            UNION ALL
            (
                SELECT o.api_group, o.resource FROM current_objects o
                WHERE (o.api_group, o.resource) > (f.api_group, f.resource)
                ORDER BY o.api_group, o.resource
                LIMIT 1
            )
            UNION ALL
            (
                SELECT s.api_group, s.resource FROM superseded_objects s
                WHERE (s.api_group, s.resource) > (f.api_group, f.resource)
                ORDER BY s.api_group, s.resource
                LIMIT 1
            )
            ORDER BY api_group, resource
            LIMIT 1
        ) next
    )
    SELECT f.api_group, f.resource FROM found f WHERE f.resource <> ''
$$;

-- What a namespace was like is found along the indexes by object, in time that depends on what is in the namespace and not on how much
-- history there is: cluster_at(moment, 'shop'), with of_resource => 'pods' for those alone.
--
-- The objects of the namespace that have not changed since, and what the first change since has replaced in each of the others. Among those
-- the index is followed from one to the one before, however often they were written. A namespace of '' has what belongs to none.
CREATE FUNCTION cluster_at(at bigint, of_namespace text, of_resource text DEFAULT NULL, of_group text DEFAULT NULL)
RETURNS TABLE (api_group text, resource text, namespace text, name text, uid text, revision bigint, object json)
LANGUAGE plpgsql STABLE
ROWS 1000
-- The only ways that are left are those along the indexes, whatever is known of the tables.
SET enable_sort = off
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
    up_to bigint := assert_in_history(cluster_at.at);
    kind  record;
BEGIN
    FOR kind IN
        SELECT k.api_group, k.resource
        FROM resources_in_history() k
        WHERE (of_group IS NULL OR k.api_group = of_group) AND (of_resource IS NULL OR k.resource = of_resource)
    LOOP
        RETURN QUERY
        SELECT o.api_group, o.resource, o.namespace, o.name, o.uid, o.revision, o.object
        FROM current_objects o
        WHERE o.api_group = kind.api_group AND o.resource = kind.resource AND o.namespace = of_namespace AND o.revision <= up_to;
        -- By name backwards and by revision forwards, as only one index has them: the next row is the first change of the next object.
        RETURN QUERY
        WITH RECURSIVE changed AS (
            (
                SELECT h.name, h.previous_revision
                FROM history h
                WHERE h.api_group = kind.api_group AND h.resource = kind.resource AND h.namespace = of_namespace
                  AND h.revision > up_to
                ORDER BY h.name DESC, h.revision
                LIMIT 1
            )
            UNION ALL
            SELECT next.name, next.previous_revision
            FROM changed c
            CROSS JOIN LATERAL (
                SELECT h.name, h.previous_revision
                FROM history h
                WHERE h.api_group = kind.api_group AND h.resource = kind.resource AND h.namespace = of_namespace
                  AND h.name < c.name AND h.revision > up_to
                ORDER BY h.name DESC, h.revision
                LIMIT 1
            ) next
        )
        SELECT kind.api_group, kind.resource, of_namespace, c.name, coalesce(p.uid, s.uid), c.previous_revision,
            coalesce(p.object, s.object)
        FROM changed c
        LEFT JOIN LATERAL (
            SELECT h.uid, h.object FROM history h WHERE h.revision = c.previous_revision LIMIT 1
        ) p ON true
        LEFT JOIN LATERAL (
            SELECT k.uid, k.object FROM superseded_objects k WHERE p.uid IS NULL AND k.revision = c.previous_revision LIMIT 1
        ) s ON true
        WHERE c.previous_revision IS NOT NULL;
    END LOOP;
END $$;

CREATE FUNCTION cluster_at(moment timestamptz, of_namespace text, of_resource text DEFAULT NULL, of_group text DEFAULT NULL)
RETURNS TABLE (api_group text, resource text, namespace text, name text, uid text, revision bigint, object json)
LANGUAGE sql STABLE
ROWS 1000
AS $$
    SELECT * FROM cluster_at(revision_at(moment), of_namespace, of_resource, of_group)
$$;

CREATE FUNCTION cluster_at(at text, of_namespace text, of_resource text DEFAULT NULL, of_group text DEFAULT NULL)
RETURNS TABLE (api_group text, resource text, namespace text, name text, uid text, revision bigint, object json)
LANGUAGE plpgsql STABLE
ROWS 1000
AS $$
DECLARE
    then_at bigint := revision_of(at);
BEGIN
    RETURN QUERY SELECT * FROM cluster_at(then_at, of_namespace, of_resource, of_group);
END $$;

COMMENT ON FUNCTION cluster_at(bigint, text, text, text) IS 'The objects of a namespace as they were at a revision.';
COMMENT ON FUNCTION cluster_at(timestamptz, text, text, text) IS 'The objects of a namespace as they were at a moment.';
COMMENT ON FUNCTION cluster_at(text, text, text, text) IS 'The objects of a namespace as they were at a revision or a moment, written as text.';

-- A change is a path with its old and its new value. An element of a list is named by the field that tells it apart,
-- `spec.containers[name=web].image`, and by its place where none does. Lists of plain values change as a whole. metadata.managedFields
-- is left out.
CREATE FUNCTION path_of(parent text, name text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN name !~ '^[A-Za-z_][A-Za-z0-9_-]*$' THEN parent || '[' || to_json(name)::text || ']'
        WHEN parent = '' THEN name
        ELSE parent || '.' || name
    END
$$;

COMMENT ON FUNCTION path_of(text, text) IS 'The path of a field: spec.replicas, metadata.annotations["a.example/b"].';

-- The fields that tell the elements of lists apart: the first that all elements have, and no two of one list with the same values. Null:
-- there are none, or something in a list is no object. Most of them are what Kubernetes merges such lists by. Fields that the first
-- element lacks are not looked for in the others.
CREATE FUNCTION keys_of(list jsonb, other jsonb DEFAULT NULL) RETURNS text[]
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

COMMENT ON FUNCTION keys_of(jsonb, jsonb) IS 'The fields that tell the elements of a list apart, or of two lists.';

-- The parts of an object, or of a list of objects. What has none has no rows. There are two keys at most.
CREATE FUNCTION parts_of(parent text, value jsonb, keys text[]) RETURNS TABLE (path text, part jsonb)
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

COMMENT ON FUNCTION parts_of(text, jsonb, text[]) IS 'The fields of an object or the elements of a list, with their paths.';

-- Whether a value is looked into: an object with fields, or a list with nothing but objects in it.
CREATE FUNCTION has_parts(value jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE jsonb_typeof(value)
        WHEN 'object' THEN value <> '{}'
        WHEN 'array' THEN value <> '[]' AND NOT EXISTS (
            SELECT FROM jsonb_array_elements(value) AS l (element) WHERE jsonb_typeof(l.element) <> 'object'
        )
    END
$$;

COMMENT ON FUNCTION has_parts(jsonb) IS 'Whether changes inside of a value are told, rather than that of the whole.';

-- `old` is null for what is new, `new` for what is gone; the path of the whole object is ''. The fields of an object are compared one by
-- one, in place of a join for each object, and managed fields are left out where they are met, not by copies of both states: a third of
-- the time.
CREATE FUNCTION changes_between(before jsonb, after jsonb) RETURNS TABLE (path text, old jsonb, new jsonb)
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

COMMENT ON FUNCTION changes_between(jsonb, jsonb) IS 'The fields in which two states of an object differ.';

-- All values that have no parts.
CREATE FUNCTION leaves_of(object jsonb) RETURNS TABLE (path text, value jsonb)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
ROWS 50
AS $$
    WITH RECURSIVE walk AS (
        SELECT '' AS path, object #- '{metadata,managedFields}' AS value, has_parts(object) AS goes_on
        UNION ALL
        SELECT p.path, p.part, has_parts(p.part)
        FROM walk w
        CROSS JOIN LATERAL (
            SELECT CASE WHEN jsonb_typeof(w.value) = 'array' THEN keys_of(w.value) END AS keys OFFSET 0
        ) k
        CROSS JOIN LATERAL parts_of(w.path, w.value, k.keys) p
        WHERE w.goes_on
    )
    SELECT w.path, w.value FROM walk w WHERE w.goes_on IS NOT TRUE
$$;

COMMENT ON FUNCTION leaves_of(jsonb) IS 'All fields of an object, with their paths.';

-- Which data of a Secret changed. Never fails, as without_secret_data: then `data` has changed.
CREATE FUNCTION changed_data(before json, after json) RETURNS SETOF text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
ROWS 2
AS $$
BEGIN
    RETURN QUERY
    SELECT path_of('data', key)
    FROM jsonb_each(coalesce(before::jsonb -> 'data', '{}')) b
    FULL JOIN jsonb_each(coalesce(after::jsonb -> 'data', '{}')) a USING (key)
    WHERE b.value IS DISTINCT FROM a.value;
EXCEPTION WHEN OTHERS THEN
    RETURN NEXT 'data';
END $$;

COMMENT ON FUNCTION changed_data(json, json) IS 'Which data of a Secret changed, without saying from what to what.';

DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION changed_data(json, json) SET search_path = pg_catalog, %I', current_schema());
END $$;

-- A row a changed field. Of a Secret that is hidden, it shows which keys of its data changed, and no value.
CREATE VIEW changes AS
SELECT
    h.revision, h.at, h.who, h.verb, h.what, h.namespace, h.name, c.path, c.old, c.new, h.manager, h.user_agent, h.source_address,
    h.request_id, h.previous_revision, h.api_group, h.resource, h.uid
FROM history h
LEFT JOIN LATERAL (
    SELECT p.object FROM history p WHERE p.revision = h.previous_revision
    UNION ALL
    SELECT s.object FROM superseded_objects s WHERE s.revision = h.previous_revision
    LIMIT 1
) p ON true
CROSS JOIN LATERAL changes_between(
    as_jsonb(p.object), CASE WHEN h.verb <> 'delete' THEN as_jsonb(h.object) END
) c
UNION ALL
SELECT
    r.revision, r.committed_at, r.username, r.verb, r.resource, r.namespace, r.name, k.path, NULL, NULL,
    r.field_manager, r.user_agent, r.source_address, r.request_id, r.previous_revision, r.api_group, r.resource, r.uid
FROM revisions r
JOIN LATERAL (
    SELECT p.object FROM revisions p WHERE p.revision = r.previous_revision
    UNION ALL
    SELECT s.object FROM superseded s WHERE s.revision = r.previous_revision
    LIMIT 1
) p ON true
CROSS JOIN LATERAL changed_data(p.object, r.object) k (path)
WHERE r.api_group = '' AND r.resource = 'secrets' AND r.verb = 'update'
  AND NOT has_table_privilege('secret_data'::regclass, 'SELECT');

COMMENT ON VIEW changes IS 'Every changed field: who set it when, from what to what. Hides what current_objects hides, but for the names of the data that changed.';
COMMENT ON COLUMN changes.path IS 'spec.containers[name=web].image; '''' where the object was created or deleted.';
COMMENT ON COLUMN changes.old IS 'null: there was nothing.';
COMMENT ON COLUMN changes.new IS 'null: there is nothing any more.';

-- Along the log, so that a limit or a condition on time or revision spares the rest.
CREATE FUNCTION changes_of(of_group text, of_resource text, of_namespace text, of_name text)
RETURNS TABLE (
    revision bigint, at timestamptz, who text, manager text, verb text, path text, old jsonb, new jsonb, request_id text
)
LANGUAGE sql STABLE
ROWS 100
AS $$
    SELECT h.revision, h.at, h.who, h.manager, h.verb, c.path, c.old, c.new, h.request_id
    FROM history h
    CROSS JOIN LATERAL (SELECT c.path, c.old, c.new FROM changes c WHERE c.revision = h.revision OFFSET 0) c
    WHERE h.api_group = of_group AND h.resource = of_resource AND h.namespace = of_namespace AND h.name = of_name
    ORDER BY h.revision, c.path
$$;

COMMENT ON FUNCTION changes_of(text, text, text, text) IS 'The changes of one object (group, resource, namespace, name), oldest first.';

-- Of the newest revisions alone. The last revision that is not too new is looked for once.
CREATE FUNCTION changes_of(
    of_group text, of_resource text, of_namespace text, of_name text, since timestamptz, until timestamptz, most bigint DEFAULT NULL
)
RETURNS TABLE (
    revision bigint, at timestamptz, who text, manager text, verb text, path text, old jsonb, new jsonb, request_id text
)
LANGUAGE sql STABLE
ROWS 100
AS $$
    SELECT h.revision, h.at, h.who, h.manager, h.verb, c.path, c.old, c.new, h.request_id
    FROM (
        SELECT k.revision, k.at, k.who, k.manager, k.verb, k.request_id
        FROM history k
        WHERE k.api_group = of_group AND k.resource = of_resource AND k.namespace = of_namespace AND k.name = of_name
          AND k.at >= since AND k.revision > (SELECT coalesce(revision_at(since - interval '1 microsecond'), 0))
          AND k.revision <= (SELECT assert_in_history(revision_at(until)))
        ORDER BY k.revision DESC
        LIMIT most
    ) h
    CROSS JOIN LATERAL (SELECT c.path, c.old, c.new FROM changes c WHERE c.revision = h.revision OFFSET 0) c
    ORDER BY h.revision, c.path
$$;

COMMENT ON FUNCTION changes_of(text, text, text, text, timestamptz, timestamptz, bigint) IS
    'The changes of one object (group, resource, namespace, name) between two moments, oldest first. most: of so many of the newest revisions.';

-- Who set each field of a live object to its value. What is older than the history that is kept has no name. Each state is read once, though
-- it is the new one of a change and the old one of the next; and a field is looked for by its name and those of all that it is in.
CREATE FUNCTION blame_of(of_group text, of_resource text, of_namespace text, of_name text)
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

COMMENT ON FUNCTION blame_of(text, text, text, text) IS 'Who set each field of a live object, and when. Null: before the history that is kept.';

-- What happened in a namespace, with what it changed, along the index of what is in a namespace. '': to what belongs to no namespace.
CREATE FUNCTION timeline(of_namespace text, since timestamptz DEFAULT '-infinity')
RETURNS TABLE (
    revision bigint, at timestamptz, who text, manager text, verb text, what text, name text, changed text[], request_id text
)
LANGUAGE sql STABLE
ROWS 1000
AS $$
    SELECT h.revision, h.at, h.who, h.manager, h.verb, h.what, h.name, c.changed, h.request_id
    FROM history h
    CROSS JOIN LATERAL (
        SELECT array_agg(c.path ORDER BY c.path) FILTER (WHERE c.path <> '') AS changed
        FROM changes c
        WHERE c.revision = h.revision
    ) c
    WHERE h.namespace = of_namespace
      AND h.at >= since AND h.revision > (SELECT coalesce(revision_at(since - interval '1 microsecond'), 0))
    ORDER BY h.revision
$$;

COMMENT ON FUNCTION timeline(text, timestamptz) IS 'What happened in a namespace since a moment, with the fields that changed.';

CREATE FUNCTION timeline(of_namespace text, since timestamptz, until timestamptz, most bigint DEFAULT NULL)
RETURNS TABLE (
    revision bigint, at timestamptz, who text, manager text, verb text, what text, name text, changed text[], request_id text
)
LANGUAGE sql STABLE
ROWS 1000
AS $$
    SELECT h.revision, h.at, h.who, h.manager, h.verb, h.what, h.name, c.changed, h.request_id
    FROM (
        SELECT k.revision, k.at, k.who, k.manager, k.verb, k.what, k.name, k.request_id
        FROM history k
        WHERE k.namespace = of_namespace
          AND k.at >= since AND k.revision > (SELECT coalesce(revision_at(since - interval '1 microsecond'), 0))
          AND k.revision <= (SELECT assert_in_history(revision_at(until)))
        ORDER BY k.revision DESC
        LIMIT most
    ) h
    CROSS JOIN LATERAL (
        SELECT array_agg(c.path ORDER BY c.path) FILTER (WHERE c.path <> '') AS changed
        FROM changes c
        WHERE c.revision = h.revision
    ) c
    ORDER BY h.revision
$$;

COMMENT ON FUNCTION timeline(text, timestamptz, timestamptz, bigint) IS
    'What happened in a namespace between two moments, oldest first, with the fields that changed. most: the newest so many.';

CREATE VIEW deleted AS
SELECT
    h.revision, h.at, h.who, h.what, h.namespace, h.name, h.object, h.manager, h.user_agent, h.request_id, h.api_group, h.resource, h.uid
FROM history h
WHERE h.verb = 'delete' AND NOT EXISTS (
    SELECT FROM current_objects o
    WHERE o.api_group = h.api_group AND o.resource = h.resource AND o.namespace = h.namespace AND o.name = h.name
) AND NOT EXISTS (
    SELECT FROM history n
    WHERE n.api_group = h.api_group AND n.resource = h.resource AND n.namespace = h.namespace AND n.name = h.name
      AND n.revision > h.revision
);

COMMENT ON VIEW deleted IS 'What was deleted and is not there again, with its last state.';

-- What is different between two revisions, whatever happened between them.
CREATE FUNCTION cluster_diff(from_revision bigint, to_revision bigint)
RETURNS TABLE (what text, namespace text, name text, path text, old jsonb, new jsonb)
LANGUAGE sql STABLE
ROWS 1000
AS $$
    SELECT t.what, t.namespace, t.name, c.path, c.old, c.new
    FROM (
        SELECT h.what, h.namespace, h.name, (array_agg(h.previous_revision ORDER BY h.revision))[1] AS was, max(h.revision) AS becomes
        FROM history h
        WHERE h.revision > (SELECT assert_in_history(from_revision)) AND h.revision <= to_revision
        GROUP BY h.what, h.namespace, h.name
    ) t
    LEFT JOIN LATERAL (
        SELECT p.object FROM history p WHERE p.revision = t.was
        UNION ALL
        SELECT s.object FROM superseded_objects s WHERE s.revision = t.was
        LIMIT 1
    ) p ON true
    JOIN LATERAL (SELECT h.verb, h.object FROM history h WHERE h.revision = t.becomes LIMIT 1) n ON true
    CROSS JOIN LATERAL changes_between(
        as_jsonb(p.object), CASE WHEN n.verb <> 'delete' THEN as_jsonb(n.object) END
    ) c
    ORDER BY t.what, t.namespace, t.name, c.path
$$;

CREATE FUNCTION cluster_diff(from_moment timestamptz, to_moment timestamptz)
RETURNS TABLE (what text, namespace text, name text, path text, old jsonb, new jsonb)
LANGUAGE sql STABLE
ROWS 1000
AS $$
    SELECT * FROM cluster_diff(revision_at(from_moment), revision_at(to_moment))
$$;

CREATE FUNCTION cluster_diff(from_at text, to_at text)
RETURNS TABLE (what text, namespace text, name text, path text, old jsonb, new jsonb)
LANGUAGE plpgsql STABLE
ROWS 1000
AS $$
DECLARE
    from_revision bigint := revision_of(from_at);
    to_revision   bigint := revision_of(to_at);
BEGIN
    RETURN QUERY SELECT * FROM cluster_diff(from_revision, to_revision);
END $$;

-- Of one namespace, along its index. '': of what belongs to no namespace.
CREATE FUNCTION cluster_diff(from_moment timestamptz, to_moment timestamptz, of_namespace text)
RETURNS TABLE (what text, namespace text, name text, path text, old jsonb, new jsonb)
LANGUAGE sql STABLE
ROWS 1000
AS $$
    SELECT t.what, t.namespace, t.name, c.path, c.old, c.new
    FROM (
        SELECT h.what, h.namespace, h.name, (array_agg(h.previous_revision ORDER BY h.revision))[1] AS was, max(h.revision) AS becomes
        FROM history h
        WHERE h.namespace = of_namespace AND h.revision > (SELECT assert_in_history(revision_at(from_moment)))
          AND h.revision <= (SELECT revision_at(to_moment))
        GROUP BY h.what, h.namespace, h.name
    ) t
    LEFT JOIN LATERAL (
        SELECT p.object FROM history p WHERE p.revision = t.was
        UNION ALL
        SELECT s.object FROM superseded_objects s WHERE s.revision = t.was
        LIMIT 1
    ) p ON true
    JOIN LATERAL (SELECT h.verb, h.object FROM history h WHERE h.revision = t.becomes LIMIT 1) n ON true
    CROSS JOIN LATERAL changes_between(
        as_jsonb(p.object), CASE WHEN n.verb <> 'delete' THEN as_jsonb(n.object) END
    ) c
    ORDER BY t.what, t.name, c.path
$$;

COMMENT ON FUNCTION cluster_diff(bigint, bigint) IS 'What is different between two revisions.';
COMMENT ON FUNCTION cluster_diff(timestamptz, timestamptz) IS 'What is different between two moments.';
COMMENT ON FUNCTION cluster_diff(text, text) IS 'What is different between two revisions or moments, written as text.';
COMMENT ON FUNCTION cluster_diff(timestamptz, timestamptz, text) IS 'What is different in a namespace between two moments.';

-- Which images pods ran, and in how many containers.
CREATE FUNCTION images_at(moment timestamptz) RETURNS TABLE (image text, containers bigint)
LANGUAGE sql STABLE
ROWS 100
AS $$
    SELECT c.container ->> 'image', count(*)
    FROM cluster_at(images_at.moment) o
    CROSS JOIN LATERAL json_array_elements(o.object -> 'spec' -> 'containers') AS c (container)
    WHERE o.api_group = '' AND o.resource = 'pods'
    GROUP BY 1
    ORDER BY 1
$$;

-- Of one namespace: its pods alone are read.
CREATE FUNCTION images_at(moment timestamptz, of_namespace text) RETURNS TABLE (image text, containers bigint)
LANGUAGE sql STABLE
ROWS 100
AS $$
    SELECT c.container ->> 'image', count(*)
    FROM cluster_at(images_at.moment, images_at.of_namespace, 'pods', '') o
    CROSS JOIN LATERAL json_array_elements(o.object -> 'spec' -> 'containers') AS c (container)
    GROUP BY 1
    ORDER BY 1
$$;

COMMENT ON FUNCTION images_at(timestamptz) IS 'The images of all pods at a moment.';
COMMENT ON FUNCTION images_at(timestamptz, text) IS 'The images of the pods of a namespace at a moment.';
