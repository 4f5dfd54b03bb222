-- beside: 34
--
-- object_at, cluster_at and cluster_diff take a revision or a moment, and PostgreSQL cannot choose between the two for a text that
-- has no type yet, such as '2026-11-21 09:00'. It prefers a function that takes text: these do, and read it.

CREATE FUNCTION revision_of(at text) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF at ~ '^\s*\d+\s*$' THEN
        RETURN at::bigint;
    END IF;
    RETURN revision_at(at::timestamptz);
END $$;

CREATE FUNCTION object_at(of_group text, of_resource text, of_namespace text, of_name text, at text) RETURNS json
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN object_at(of_group, of_resource, of_namespace, of_name, revision_of(at));
END $$;

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

COMMENT ON FUNCTION revision_of(text) IS 'The revision that is meant by its number, or by a moment: the newest one then.';
COMMENT ON FUNCTION object_at(text, text, text, text, text) IS 'An object as it was at a revision or a moment, written as text.';
COMMENT ON FUNCTION cluster_at(text) IS 'All objects as they were at a revision or a moment, written as text.';
COMMENT ON FUNCTION cluster_at(text, text, text, text) IS 'The objects of a namespace as they were at a revision or a moment, written as text.';
COMMENT ON FUNCTION cluster_diff(text, text) IS 'What is different between two revisions or moments, written as text.';

-- grant_reader as it is, with the right to these; and the right for those who may call the ones of before.
DO $$
DECLARE
    before text := pg_get_functiondef('grant_reader(name)'::regprocedure);
    last   text := $last$'SELECT ON compaction, epochs, log_bounds'$last$;
    more   text := last || $more$,
        'EXECUTE ON FUNCTION revision_of(text), object_at(text, text, text, text, text), cluster_at(text)',
        'EXECUTE ON FUNCTION cluster_at(text, text, text, text), cluster_diff(text, text)'$more$;
    reader record;
BEGIN
    IF position(last IN before) = 0 THEN
        RAISE EXCEPTION 'grant_reader does not say where rights to functions belong';
    END IF;
    EXECUTE replace(before, last, more);
    FOR reader IN
        SELECT DISTINCT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END AS name
        FROM pg_proc p, aclexplode(p.proacl) a
        WHERE p.oid = 'cluster_diff(timestamptz, timestamptz)'::regprocedure AND a.privilege_type = 'EXECUTE'
          AND a.grantee <> p.proowner
    LOOP
        EXECUTE format(
            'GRANT EXECUTE ON FUNCTION revision_of(text), object_at(text, text, text, text, text), cluster_at(text), '
                || 'cluster_at(text, text, text, text), cluster_diff(text, text) TO %s',
            reader.name
        );
    END LOOP;
END $$;
