-- beside: 44
--
-- What changed, field by field: views and functions for people. A change is a path with its old and its new value. An element of a
-- list is named by the field that tells it apart, `spec.containers[name=web].image`, and by its place where none does. Lists of
-- plain values change as a whole. metadata.managedFields is left out.

CREATE FUNCTION path_of(parent text, name text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN name !~ '^[A-Za-z_][A-Za-z0-9_-]*$' THEN parent || '[' || to_json(name)::text || ']'
        WHEN parent = '' THEN name
        ELSE parent || '.' || name
    END
$$;

-- The fields that tell the elements of lists apart: the first that all elements have, and no two of one list with the same values. Null:
-- there are none, or something in a list is no object. Most of them are what Kubernetes merges such lists by.
CREATE FUNCTION keys_of(list jsonb, other jsonb DEFAULT NULL) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT k.fields
    FROM (VALUES
        (1, '{name}'::text[]), (2, '{type}'), (3, '{containerPort,protocol}'), (4, '{port,protocol}'), (5, '{mountPath}'),
        (6, '{devicePath}'), (7, '{topologyKey,whenUnsatisfiable}'), (8, '{key}'), (9, '{ip}'), (10, '{uid}'), (11, '{id}'),
        (12, '{containerPort}'), (13, '{port}'), (14, '{host}'), (15, '{path}')
    ) AS k (preference, fields)
    WHERE (
        SELECT bool_and(jsonb_typeof(e.element) = 'object' AND e.element ?& k.fields)
            AND count(*) = count(DISTINCT (e.list, (
                SELECT jsonb_agg(e.element -> f.field ORDER BY f.field) FROM unnest(k.fields) AS f (field)
            )))
        FROM (
            SELECT 1 AS list, a.element FROM jsonb_array_elements(keys_of.list) AS a (element)
            UNION ALL
            SELECT 2, b.element FROM jsonb_array_elements(keys_of.other) AS b (element)
        ) e
    )
    ORDER BY k.preference
    LIMIT 1
$$;

-- The parts of an object, or of a list of objects. What has none has no rows.
CREATE FUNCTION parts_of(parent text, value jsonb, keys text[]) RETURNS TABLE (path text, part jsonb)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
ROWS 10
AS $$
    SELECT path_of(parent, m.key), m.value
    FROM jsonb_each(CASE WHEN jsonb_typeof(value) = 'object' THEN value END) m
    UNION ALL
    SELECT
        parent || '[' || coalesce(
            (SELECT string_agg(k.field || '=' || (l.element ->> k.field), ',' ORDER BY k.place)
                FROM unnest(keys) WITH ORDINALITY AS k (field, place)),
            (l.place - 1)::text
        ) || ']',
        l.element
    FROM jsonb_array_elements(CASE WHEN jsonb_typeof(value) = 'array' THEN value END) WITH ORDINALITY AS l (element, place)
$$;

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

-- `old` is null for what is new, `new` for what is gone; the path of the whole object is ''.
CREATE FUNCTION changes_between(before jsonb, after jsonb) RETURNS TABLE (path text, old jsonb, new jsonb)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
ROWS 5
AS $$
    WITH RECURSIVE walk AS (
        SELECT '' AS path, w.was, w.becomes, has_parts(w.was) AND has_parts(w.becomes) AS goes_on
        FROM (SELECT before #- '{metadata,managedFields}' AS was, after #- '{metadata,managedFields}' AS becomes) w
        WHERE w.was IS DISTINCT FROM w.becomes
        UNION ALL
        SELECT
            p.path, p.was, p.becomes,
            jsonb_typeof(p.was) = jsonb_typeof(p.becomes) AND has_parts(p.was) AND has_parts(p.becomes)
        FROM walk w
        CROSS JOIN LATERAL (
            -- Apart, because the planner would put the search for keys into the place of each use: once for each element.
            SELECT CASE WHEN jsonb_typeof(w.was) = 'array' THEN keys_of(w.was, w.becomes) END AS keys OFFSET 0
        ) k
        CROSS JOIN LATERAL (
            SELECT path, b.part AS was, a.part AS becomes
            FROM parts_of(w.path, w.was, k.keys) b
            FULL JOIN parts_of(w.path, w.becomes, k.keys) a USING (path)
            WHERE b.part IS DISTINCT FROM a.part
        ) p
        WHERE w.goes_on
    )
    SELECT w.path, w.was, w.becomes FROM walk w WHERE w.goes_on IS NOT TRUE
$$;

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

-- What is handed a whole Secret finds its operators where they belong, whatever the reader has on the search path.
DO $$
DECLARE
    here name := (SELECT relnamespace::regnamespace FROM pg_class WHERE oid = 'revisions'::regclass);
BEGIN
    EXECUTE format('ALTER FUNCTION without_secret_data(json) SET search_path = pg_catalog, %I', here);
    EXECUTE format('ALTER FUNCTION changed_data(json, json) SET search_path = pg_catalog, %I', here);
END $$;

-- As before (0051), but what is JSON is shown without a call for each row.
CREATE OR REPLACE VIEW objects_with_bytes AS
SELECT
    o.api_group, o.resource, o.namespace, o.name, o.uid, o.revision,
    CASE WHEN o.object IS NOT NULL THEN o.object
        WHEN o.encoded IS NULL THEN (
            SELECT CASE WHEN r.object IS NULL AND r.encoded IS NOT NULL THEN readable_object(r.object, r.encoded, r.media_type) ELSE r.object END
            FROM revisions r WHERE r.revision = o.revision
        )
        ELSE readable_object(o.object, o.encoded, o.media_type) END AS object,
    CASE WHEN o.object IS NULL AND o.encoded IS NULL
        THEN (SELECT r.encoded FROM revisions r WHERE r.revision = o.revision) ELSE o.encoded END AS encoded,
    CASE WHEN o.object IS NULL AND o.encoded IS NULL
        THEN (SELECT r.media_type FROM revisions r WHERE r.revision = o.revision) ELSE o.media_type END AS media_type,
    o.modified_at, o.expires_at
FROM objects o;

CREATE OR REPLACE VIEW history AS
SELECT
    revision,
    committed_at AS at,
    username AS who,
    verb,
    CASE WHEN api_group = '' THEN resource ELSE resource || '.' || api_group END AS what,
    namespace,
    name,
    field_manager AS manager,
    user_agent,
    source_address,
    request_id,
    previous_revision,
    CASE WHEN api_group = '' AND resource = 'secrets' AND NOT has_table_privilege('secret_data'::regclass, 'SELECT')
        THEN without_secret_data(readable_object(object, encoded, media_type))
        WHEN object IS NULL THEN readable_object(object, encoded, media_type)
        ELSE object END AS object,
    api_group,
    resource,
    uid,
    CASE WHEN api_group = '' AND resource = 'secrets' AND NOT has_table_privilege('secret_data'::regclass, 'SELECT')
        THEN NULL ELSE encoded END AS encoded,
    media_type
FROM revisions;

CREATE OR REPLACE VIEW superseded_objects AS
SELECT
    revision, superseded_by, api_group, resource, namespace, name, uid,
    CASE WHEN api_group = '' AND resource = 'secrets' AND NOT has_table_privilege('secret_data'::regclass, 'SELECT')
        THEN without_secret_data(readable_object(object, encoded, media_type))
        WHEN object IS NULL THEN readable_object(object, encoded, media_type)
        ELSE object END AS object
FROM superseded;

-- A row a changed field. Of a Secret that is hidden, which keys of its data changed is told, and no value.
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

CREATE FUNCTION changes_of(of_group text, of_resource text, of_namespace text, of_name text)
RETURNS TABLE (
    revision bigint, at timestamptz, who text, manager text, verb text, path text, old jsonb, new jsonb, request_id text
)
LANGUAGE sql STABLE
ROWS 100
AS $$
    SELECT c.revision, c.at, c.who, c.manager, c.verb, c.path, c.old, c.new, c.request_id
    FROM changes c
    WHERE c.api_group = of_group AND c.resource = of_resource AND c.namespace = of_namespace AND c.name = of_name
    ORDER BY c.revision, c.path
$$;

-- Who set each field of a live object to what it is now. Nobody is named for what is older than the history that is kept.
CREATE FUNCTION blame_of(of_group text, of_resource text, of_namespace text, of_name text)
RETURNS TABLE (path text, value jsonb, revision bigint, at timestamptz, who text, manager text)
LANGUAGE sql STABLE
ROWS 50
AS $$
    WITH made AS MATERIALIZED (
        SELECT c.revision, c.at, c.who, c.manager, c.path
        FROM changes_of(of_group, of_resource, of_namespace, of_name) c
    )
    SELECT l.path, l.value, m.revision, m.at, m.who, m.manager
    FROM current_objects o
    CROSS JOIN LATERAL leaves_of(as_jsonb(o.object)) l
    LEFT JOIN LATERAL (
        SELECT m.revision, m.at, m.who, m.manager
        FROM made m
        WHERE m.path IN ('', l.path)
           OR starts_with(l.path, m.path) AND substr(l.path, length(m.path) + 1, 1) IN ('.', '[')
        ORDER BY m.revision DESC
        LIMIT 1
    ) m ON true
    WHERE o.api_group = of_group AND o.resource = of_resource AND o.namespace = of_namespace AND o.name = of_name
    ORDER BY l.path
$$;

-- What happened in a namespace, with what it changed. '': to what belongs to no namespace.
CREATE FUNCTION timeline(of_namespace text, since timestamptz DEFAULT '-infinity')
RETURNS TABLE (
    revision bigint, at timestamptz, who text, manager text, verb text, what text, name text, changed text[], request_id text
)
LANGUAGE sql STABLE
ROWS 1000
AS $$
    SELECT h.revision, h.at, h.who, h.manager, h.verb, h.what, h.name, c.changed, h.request_id
    FROM resources_in_history() k
    JOIN history h ON h.api_group = k.api_group AND h.resource = k.resource AND h.namespace = of_namespace AND h.at >= since
    CROSS JOIN LATERAL (
        SELECT array_agg(c.path ORDER BY c.path) FILTER (WHERE c.path <> '') AS changed
        FROM changes c
        WHERE c.revision = h.revision
    ) c
    ORDER BY h.revision
$$;

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

-- What Kubernetes writes of cpu and memory, as a number: quantity('250m') is 0.25, quantity('2Gi') is 2147483648.
CREATE FUNCTION quantity(written text) RETURNS numeric
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT q.parts[1]::numeric * CASE
        WHEN q.parts[2] ~ '^[eE].' THEN power(10::numeric, substr(q.parts[2], 2)::int)
        WHEN q.parts[2] ~ 'i$' THEN power(1024::numeric, strpos('KMGTPE', left(q.parts[2], 1)))
        WHEN q.parts[2] IN ('n', 'u', 'm') THEN power(1000::numeric, strpos('num', q.parts[2]) - 4)
        ELSE power(1000::numeric, strpos('kMGTPE', q.parts[2]) * sign(length(q.parts[2]))::int)
    END
    FROM regexp_matches(
        quantity.written, '^([+-]?(?:\d+\.?\d*|\.\d+))([numkMGTPE]|[KMGTPE]i|[eE][+-]?\d{1,3}|)$'
    ) AS q (parts)
$$;

CREATE VIEW labels AS
SELECT o.api_group, o.resource, o.namespace, o.name, l.key, l.value
FROM current_objects o
CROSS JOIN LATERAL json_each_text(
    CASE WHEN json_typeof(o.object -> 'metadata' -> 'labels') = 'object' THEN o.object -> 'metadata' -> 'labels' END
) l;

CREATE VIEW conditions AS
SELECT
    o.api_group, o.resource, o.namespace, o.name, c.condition ->> 'type' AS type, c.condition ->> 'status' AS status,
    c.condition ->> 'reason' AS reason, c.condition ->> 'message' AS message,
    c.condition ->> 'lastTransitionTime' AS changed_at
FROM current_objects o
CROSS JOIN LATERAL json_array_elements(
    CASE WHEN json_typeof(o.object -> 'status' -> 'conditions') = 'array' THEN o.object -> 'status' -> 'conditions' END
) AS c (condition);

COMMENT ON FUNCTION path_of(text, text) IS 'The path of a field: spec.replicas, metadata.annotations["a.example/b"].';
COMMENT ON FUNCTION keys_of(jsonb, jsonb) IS 'The fields that tell the elements of a list apart, or of two lists.';
COMMENT ON FUNCTION parts_of(text, jsonb, text[]) IS 'The fields of an object or the elements of a list, with their paths.';
COMMENT ON FUNCTION has_parts(jsonb) IS 'Whether changes inside of a value are told, rather than that of the whole.';
COMMENT ON FUNCTION changes_between(jsonb, jsonb) IS 'The fields in which two states of an object differ.';
COMMENT ON FUNCTION leaves_of(jsonb) IS 'All fields of an object, with their paths.';
COMMENT ON FUNCTION changed_data(json, json) IS 'Which data of a Secret changed, without saying from what to what.';
COMMENT ON VIEW changes IS 'Every changed field: who set it when, from what to what. Hides what current_objects hides, but for the names of the data that changed.';
COMMENT ON COLUMN changes.path IS 'spec.containers[name=web].image; '''' where the object was created or deleted.';
COMMENT ON COLUMN changes.old IS 'null: there was nothing.';
COMMENT ON COLUMN changes.new IS 'null: there is nothing any more.';
COMMENT ON FUNCTION changes_of(text, text, text, text) IS 'The changes of one object (group, resource, namespace, name), oldest first.';
COMMENT ON FUNCTION blame_of(text, text, text, text) IS 'Who set each field of a live object, and when. Null: before the history that is kept.';
COMMENT ON FUNCTION timeline(text, timestamptz) IS 'What happened in a namespace since a moment, with the fields that changed.';
COMMENT ON VIEW deleted IS 'What was deleted and is not there again, with its last state.';
COMMENT ON FUNCTION cluster_diff(bigint, bigint) IS 'What is different between two revisions.';
COMMENT ON FUNCTION cluster_diff(timestamptz, timestamptz) IS 'What is different between two moments.';
COMMENT ON FUNCTION images_at(timestamptz) IS 'The images of all pods at a moment.';
COMMENT ON FUNCTION quantity(text) IS 'A quantity of Kubernetes as a number; null for what is none.';
COMMENT ON VIEW labels IS 'The labels of all live objects, a row each.';
COMMENT ON VIEW conditions IS 'The conditions of all live objects, a row each.';

-- grant_reader as it is, with the right to these.
DO $$
DECLARE
    before text := pg_get_functiondef('grant_reader(name)'::regprocedure);
    last   text := $last$'SELECT ON compaction, epochs, log_bounds'$last$;
    more   text := last || $more$,
        'SELECT ON changes, deleted, labels, conditions',
        'EXECUTE ON FUNCTION path_of(text, text), keys_of(jsonb, jsonb), parts_of(text, jsonb, text[]), has_parts(jsonb)',
        'EXECUTE ON FUNCTION changed_data(json, json), changes_between(jsonb, jsonb), leaves_of(jsonb), quantity(text), images_at(timestamptz)',
        'EXECUTE ON FUNCTION changes_of(text, text, text, text), blame_of(text, text, text, text), timeline(text, timestamptz)',
        'EXECUTE ON FUNCTION cluster_diff(bigint, bigint), cluster_diff(timestamptz, timestamptz)'$more$;
BEGIN
    IF position(last IN before) = 0 THEN
        RAISE EXCEPTION 'grant_reader does not say where rights to views belong';
    END IF;
    EXECUTE replace(before, last, more);
END $$;
