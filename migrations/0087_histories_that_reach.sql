-- beside: 44
--
-- The state of the cluster before the history of a resource with a shorter one (0084) had some of its objects and lacked others, without
-- a word. Such a resource is left out as a whole, and a notice names it; a question about that resource alone is refused.

-- The resources that have a history of their own which does not reach back to a revision, as compaction.shorter names them.
CREATE FUNCTION beyond_history(at bigint) RETURNS text[]
LANGUAGE plpgsql STABLE AS $$
DECLARE
    names  text[];
    oldest bigint;
BEGIN
    SELECT coalesce(array_agg(s.key ORDER BY s.key), '{}'), max((s.value ->> 'revision')::bigint) INTO names, oldest
    FROM compaction c, jsonb_each(c.shorter) s
    WHERE (s.value ->> 'revision')::bigint > at;
    IF names <> '{}' THEN
        RAISE NOTICE 'left out: %, whose shorter history does not reach back to revision %', array_to_string(names, ', '), at
            USING HINT = format('Ask for revision %s or later to see them.', oldest);
    END IF;
    RETURN names;
END $$;

CREATE FUNCTION qualified_resource(of_group text, of_resource text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT of_resource || CASE WHEN of_group = '' THEN '' ELSE '.' || of_group END
$$;

-- As before (0064), without what is beyond its history.
CREATE OR REPLACE FUNCTION cluster_at(at bigint)
RETURNS TABLE (api_group text, resource text, namespace text, name text, uid text, revision bigint, object json)
LANGUAGE sql STABLE AS $$
    WITH then_at AS MATERIALIZED (
        SELECT assert_in_history(cluster_at.at) AS revision, beyond_history(cluster_at.at) AS without
    )
    SELECT o.api_group, o.resource, o.namespace, o.name, o.uid, o.revision, o.object
    FROM current_objects o
    WHERE o.revision <= (SELECT t.revision FROM then_at t)
      AND qualified_resource(o.api_group, o.resource) <> ALL ((SELECT t.without FROM then_at t)::text[])
    UNION ALL
    SELECT r.api_group, r.resource, r.namespace, r.name, p.uid, p.revision, p.object
    FROM history r
    CROSS JOIN LATERAL (
        SELECT h.uid, h.revision, h.object FROM history h WHERE h.revision = r.previous_revision LIMIT 1
    ) p
    WHERE r.revision > (SELECT t.revision FROM then_at t) AND r.previous_revision <= (SELECT t.revision FROM then_at t)
      AND r.previous_revision >= (SELECT b.low FROM log_bounds b)
      AND qualified_resource(r.api_group, r.resource) <> ALL ((SELECT t.without FROM then_at t)::text[])
    UNION ALL
    SELECT p.api_group, p.resource, p.namespace, p.name, p.uid, p.revision, p.object
    FROM superseded_objects p
    WHERE p.superseded_by > (SELECT t.revision FROM then_at t) AND p.revision <= (SELECT t.revision FROM then_at t)
      AND p.revision < (SELECT b.low FROM log_bounds b)
      AND qualified_resource(p.api_group, p.resource) <> ALL ((SELECT t.without FROM then_at t)::text[])
$$;

CREATE OR REPLACE FUNCTION cluster_at(moment timestamptz)
RETURNS TABLE (api_group text, resource text, namespace text, name text, uid text, revision bigint, object json)
LANGUAGE sql STABLE AS $$
    SELECT * FROM cluster_at(revision_at(moment))
$$;

COMMENT ON FUNCTION cluster_at(bigint) IS
    'The state of the cluster at a revision, without resources whose shorter history does not reach back to it: a notice names those.';

-- As before (0064), without what is beyond its history; a resource that is asked for by name is refused then.
CREATE OR REPLACE FUNCTION cluster_at(at bigint, of_namespace text, of_resource text DEFAULT NULL, of_group text DEFAULT NULL)
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
    up_to   bigint := assert_in_history(cluster_at.at);
    without text[] := '{}';
    kind    record;
BEGIN
    IF of_resource IS NULL THEN
        without := beyond_history(up_to);
    END IF;
    FOR kind IN
        SELECT k.api_group, k.resource
        FROM resources_in_history() k
        WHERE (of_group IS NULL OR k.api_group = of_group) AND (of_resource IS NULL OR k.resource = of_resource)
          AND qualified_resource(k.api_group, k.resource) <> ALL (without)
    LOOP
        PERFORM assert_in_history(up_to, kind.api_group, kind.resource);
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

-- Likewise (0064): the oldest row that is left of such a resource is not the first change.
CREATE OR REPLACE FUNCTION cluster_diff(from_revision bigint, to_revision bigint)
RETURNS TABLE (what text, namespace text, name text, path text, old jsonb, new jsonb)
LANGUAGE sql STABLE
ROWS 1000
AS $$
    SELECT t.what, t.namespace, t.name, c.path, c.old, c.new
    FROM (
        SELECT h.what, h.namespace, h.name, (array_agg(h.previous_revision ORDER BY h.revision))[1] AS was, max(h.revision) AS becomes
        FROM history h
        WHERE h.revision > (SELECT assert_in_history(from_revision)) AND h.revision <= to_revision
          AND h.what <> ALL ((SELECT beyond_history(from_revision))::text[])
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

CREATE OR REPLACE FUNCTION cluster_diff(from_moment timestamptz, to_moment timestamptz, of_namespace text)
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
          AND h.what <> ALL ((SELECT beyond_history(revision_at(from_moment)))::text[])
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

-- As before (0064); the history of pods may be a shorter one, too.
CREATE OR REPLACE FUNCTION images_at(moment timestamptz) RETURNS TABLE (image text, containers bigint)
LANGUAGE sql STABLE
ROWS 100
-- Without a notice about resources that are no pods.
SET client_min_messages = warning
AS $$
    SELECT c.container ->> 'image', count(*)
    FROM cluster_at(images_at.moment) o
    CROSS JOIN LATERAL json_array_elements(o.object -> 'spec' -> 'containers') AS c (container)
    WHERE o.api_group = '' AND o.resource = 'pods'
      AND (SELECT assert_in_history(revision_at(images_at.moment), '', 'pods')) IS NOT NULL
    GROUP BY 1
    ORDER BY 1
$$;

-- As before (0084), with the functions above.
CREATE OR REPLACE FUNCTION grant_reader(to_role name) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    here name := (SELECT relnamespace::regnamespace FROM pg_class WHERE oid = 'revisions'::regclass);
    of   text;
BEGIN
    IF NOT has_schema_privilege(to_role, here, 'USAGE') THEN
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', here, to_role);
    END IF;
    FOREACH of IN ARRAY ARRAY[
        'SELECT ON history, history_jsonb, current_objects, objects_jsonb, superseded_objects',
        'SELECT ON changes, deleted, labels, conditions',
        'SELECT ON compaction, epochs, log_bounds',
        'SELECT (revision, committed_at) ON revisions',
        'EXECUTE ON FUNCTION revision_at(timestamptz), revision_of(text), compacted_revision(text, text)',
        'EXECUTE ON FUNCTION assert_in_history(bigint), assert_in_history(bigint, text, text), resources_in_history()',
        'EXECUTE ON FUNCTION beyond_history(bigint), qualified_resource(text, text)',
        'EXECUTE ON FUNCTION object_at(text, text, text, text, bigint), object_at(text, text, text, text, timestamptz)',
        'EXECUTE ON FUNCTION object_at(text, text, text, text, text)',
        'EXECUTE ON FUNCTION cluster_at(bigint), cluster_at(timestamptz), cluster_at(text)',
        'EXECUTE ON FUNCTION cluster_at(bigint, text, text, text), cluster_at(timestamptz, text, text, text)',
        'EXECUTE ON FUNCTION cluster_at(text, text, text, text)',
        'EXECUTE ON FUNCTION cluster_diff(bigint, bigint), cluster_diff(timestamptz, timestamptz), cluster_diff(text, text)',
        'EXECUTE ON FUNCTION cluster_diff(timestamptz, timestamptz, text)',
        'EXECUTE ON FUNCTION changes_of(text, text, text, text), blame_of(text, text, text, text)',
        'EXECUTE ON FUNCTION changes_of(text, text, text, text, timestamptz, timestamptz, bigint)',
        'EXECUTE ON FUNCTION timeline(text, timestamptz), timeline(text, timestamptz, timestamptz, bigint)',
        'EXECUTE ON FUNCTION images_at(timestamptz), images_at(timestamptz, text), quantity(text)',
        'EXECUTE ON FUNCTION path_of(text, text), keys_of(jsonb, jsonb), parts_of(text, jsonb, text[]), has_parts(jsonb)',
        'EXECUTE ON FUNCTION changed_data(json, json), changes_between(jsonb, jsonb), leaves_of(jsonb)',
        'EXECUTE ON FUNCTION as_jsonb(json), without_secret_data(json), readable_object(json, bytea, text)'
    ] LOOP
        EXECUTE format('GRANT %s TO %I', of, to_role);
    END LOOP;
    RETURN format('%s may read, but not what Secrets hold (GRANT SELECT ON secret_data shows that)', to_role);
END $$;
