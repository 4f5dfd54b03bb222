-- beside: 34
--
-- What people read hides what Secrets hold, unless they were granted the view secret_data. Nobody but the owner reads the tables.

-- A Secret without what it holds. Never fails: what PostgreSQL says of a value that it cannot take has a piece of that in it.
CREATE FUNCTION without_secret_data(object json) RETURNS json
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    RETURN (as_jsonb(object) - '{data,stringData}'::text[])
        #- '{metadata,annotations,kubectl.kubernetes.io/last-applied-configuration}';
EXCEPTION WHEN OTHERS THEN
    RETURN '{"kind": "Secret", "apiVersion": "v1"}';
END $$;

CREATE VIEW secret_data AS
SELECT namespace, name, uid, revision, object, encoded, media_type, modified_at
FROM objects
WHERE api_group = '' AND resource = 'secrets';

-- Each names secret_data by its id, so that no table of the reader's making can stand for it.
CREATE VIEW current_objects AS
SELECT
    api_group, resource, namespace, name, uid, revision,
    CASE WHEN api_group = '' AND resource = 'secrets' AND NOT has_table_privilege('secret_data'::regclass, 'SELECT')
        THEN without_secret_data(object) ELSE object END AS object,
    modified_at, expires_at,
    CASE WHEN api_group = '' AND resource = 'secrets' AND NOT has_table_privilege('secret_data'::regclass, 'SELECT')
        THEN NULL ELSE encoded END AS encoded,
    media_type
FROM objects;

CREATE OR REPLACE VIEW objects_jsonb AS
SELECT api_group, resource, namespace, name, uid, revision, as_jsonb(object) AS object, modified_at, expires_at
FROM current_objects;

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
        THEN without_secret_data(object) ELSE object END AS object,
    api_group,
    resource,
    uid,
    CASE WHEN api_group = '' AND resource = 'secrets' AND NOT has_table_privilege('secret_data'::regclass, 'SELECT')
        THEN NULL ELSE encoded END AS encoded,
    media_type
FROM revisions;

CREATE VIEW superseded_objects AS
SELECT
    revision, superseded_by, api_group, resource, namespace, name, uid,
    CASE WHEN api_group = '' AND resource = 'secrets' AND NOT has_table_privilege('secret_data'::regclass, 'SELECT')
        THEN without_secret_data(object) ELSE object END AS object
FROM superseded;

-- As before (0032), of what the caller may see. A column of history is named like the parameter.
CREATE OR REPLACE FUNCTION object_at(of_group text, of_resource text, of_namespace text, of_name text, at bigint) RETURNS json
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

CREATE OR REPLACE FUNCTION cluster_at(at bigint)
RETURNS TABLE (api_group text, resource text, namespace text, name text, uid text, revision bigint, object json)
LANGUAGE sql STABLE AS $$
    SELECT o.api_group, o.resource, o.namespace, o.name, o.uid, o.revision, o.object
    FROM current_objects o
    WHERE o.revision <= (SELECT assert_in_history(cluster_at.at))
    UNION ALL
    SELECT r.api_group, r.resource, r.namespace, r.name, p.uid, p.revision, p.object
    FROM history r
    JOIN history p ON p.revision = r.previous_revision
    WHERE r.revision > (SELECT assert_in_history(cluster_at.at)) AND r.previous_revision <= cluster_at.at
      AND p.revision >= (SELECT b.low FROM log_bounds b)
    UNION ALL
    SELECT p.api_group, p.resource, p.namespace, p.name, p.uid, p.revision, p.object
    FROM superseded_objects p
    WHERE p.superseded_by > (SELECT assert_in_history(cluster_at.at)) AND p.revision <= cluster_at.at
      AND p.revision < (SELECT b.low FROM log_bounds b)
$$;

COMMENT ON VIEW secret_data IS 'The live Secrets with what they hold. Who may read this view is shown it in all the others as well.';
COMMENT ON VIEW current_objects IS 'The live objects. What Secrets hold is hidden from those who may not read secret_data: data, stringData, the last-applied annotation, and bytes in another encoding.';
COMMENT ON VIEW objects_jsonb IS 'The live objects, for those who want jsonb. Hides what current_objects hides.';
COMMENT ON VIEW history IS 'Who changed what, when. Hides what current_objects hides.';
COMMENT ON VIEW history_jsonb IS 'history, for those who want jsonb.';
COMMENT ON VIEW superseded_objects IS 'States that the log no longer has, for object_at and cluster_at. Hides what current_objects hides.';
