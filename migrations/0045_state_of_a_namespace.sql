-- beside: 34
--
-- What a namespace was like at a moment is found along the indexes by object, in time that depends on what is in the namespace and not
-- on how much history there is: cluster_at(moment, 'shop'), with of_resource => 'pods' for those alone.

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

-- The objects of a namespace that have not changed since, and what the first change since has replaced in each of the others. Among
-- those the index is followed from one to the one before, however often they were written. A namespace of '' has what belongs to none.
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

-- As before (0040), but each state that was replaced is looked up by itself: the planner does not read the log for them.
CREATE OR REPLACE FUNCTION cluster_at(at bigint)
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
CREATE OR REPLACE FUNCTION cluster_at(moment timestamptz)
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

COMMENT ON FUNCTION cluster_at(bigint, text, text, text) IS 'The objects of a namespace as they were at a revision.';
COMMENT ON FUNCTION cluster_at(timestamptz, text, text, text) IS 'The objects of a namespace as they were at a moment.';

-- grant_reader as it is, with the right to these.
DO $$
DECLARE
    before text := pg_get_functiondef('grant_reader(name)'::regprocedure);
    last   text := $last$'EXECUTE ON FUNCTION as_jsonb(json), without_secret_data(json)'$last$;
    more   text := last || $more$,
        'EXECUTE ON FUNCTION cluster_at(bigint, text, text, text), cluster_at(timestamptz, text, text, text), resources_in_history()'$more$;
BEGIN
    IF position(last IN before) = 0 THEN
        RAISE EXCEPTION 'grant_reader does not say where rights to functions belong';
    END IF;
    EXECUTE replace(before, last, more);
END $$;
