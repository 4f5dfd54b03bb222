-- beside: 44
--
-- What is asked of an object or of a namespace is read along the log, and no further than is asked for.

-- As before (0055), but along the log, so that a limit or a condition on time or revision spares the rest.
CREATE OR REPLACE FUNCTION changes_of(of_group text, of_resource text, of_namespace text, of_name text)
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

-- As before (0055), but along the index of what is in a namespace (0056), so that a limit or a condition on time or revision spares
-- the rest.
CREATE OR REPLACE FUNCTION timeline(of_namespace text, since timestamptz DEFAULT '-infinity')
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

-- As before (0055), of one namespace: its pods alone are read.
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

-- As before (0055), of one namespace, along its index. '': of what belongs to no namespace.
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

COMMENT ON FUNCTION changes_of(text, text, text, text, timestamptz, timestamptz, bigint) IS
    'The changes of one object (group, resource, namespace, name) between two moments, oldest first. most: of so many of the newest revisions.';
COMMENT ON FUNCTION timeline(text, timestamptz, timestamptz, bigint) IS
    'What happened in a namespace between two moments, oldest first, with the fields that changed. most: the newest so many.';
COMMENT ON FUNCTION cluster_diff(timestamptz, timestamptz, text) IS 'What is different in a namespace between two moments.';
COMMENT ON FUNCTION images_at(timestamptz, text) IS 'The images of the pods of a namespace at a moment.';

-- grant_reader as it is, with the right to these; and the right for those who may call the ones of before.
DO $$
DECLARE
    before text := pg_get_functiondef('grant_reader(name)'::regprocedure);
    last   text := $last$'EXECUTE ON FUNCTION cluster_diff(bigint, bigint), cluster_diff(timestamptz, timestamptz)'$last$;
    more   text := last || $more$,
        'EXECUTE ON FUNCTION changes_of(text, text, text, text, timestamptz, timestamptz, bigint)',
        'EXECUTE ON FUNCTION timeline(text, timestamptz, timestamptz, bigint), images_at(timestamptz, text)',
        'EXECUTE ON FUNCTION cluster_diff(timestamptz, timestamptz, text)'$more$;
    reader record;
BEGIN
    IF position(last IN before) = 0 THEN
        RAISE EXCEPTION 'grant_reader does not say where rights to functions belong';
    END IF;
    EXECUTE replace(before, last, more);
    FOR reader IN
        SELECT DISTINCT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END AS name
        FROM pg_proc p, aclexplode(p.proacl) a
        WHERE p.oid = 'timeline(text, timestamptz)'::regprocedure AND a.privilege_type = 'EXECUTE' AND a.grantee <> p.proowner
    LOOP
        EXECUTE format(
            'GRANT EXECUTE ON FUNCTION changes_of(text, text, text, text, timestamptz, timestamptz, bigint), '
                || 'timeline(text, timestamptz, timestamptz, bigint), images_at(timestamptz, text), '
                || 'cluster_diff(timestamptz, timestamptz, text) TO %s',
            reader.name
        );
    END LOOP;
END $$;
