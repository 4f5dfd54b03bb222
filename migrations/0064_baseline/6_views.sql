-- What people read: the live objects and the log. Views hide what Secrets hold, unless the reader was granted the view secret_data. No
-- role but the owner reads the tables.

-- jsonb holds neither NUL nor half a surrogate pair, which json may; in the few objects that have one, it is replaced.
CREATE FUNCTION as_jsonb(object json) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    RETURN object::jsonb;
EXCEPTION WHEN untranslatable_character OR invalid_text_representation THEN
    RETURN regexp_replace(object::text, '\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\\ufffd', 'g')::jsonb;
END $$;

-- The Secret rule. A Secret without what it holds. Never fails: an error of PostgreSQL quotes a piece of the value that it refuses.
CREATE FUNCTION without_secret_data(object json) RETURNS json
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    RETURN (as_jsonb(object) - '{data,stringData}'::text[])
        #- '{metadata,annotations,kubectl.kubernetes.io/last-applied-configuration}';
EXCEPTION WHEN OTHERS THEN
    RETURN '{"kind": "Secret", "apiVersion": "v1"}';
END $$;

-- What is shown of an object: itself, where its bytes are JSON; YAML as the servers write it, a line for each field whose value is in flow
-- style, as JSON; else in which form it is stored: {"encoded": {"mediaType": "…", "sizeBytes": 812}}
CREATE FUNCTION readable_object(object json, encoded bytea, media_type text) RETURNS json
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
    IF object IS NOT NULL OR encoded IS NULL THEN
        RETURN object;
    END IF;
    IF media_type = 'application/yaml' THEN
        BEGIN
            RETURN (
                SELECT '{' || string_agg(coalesce(
                    CASE WHEN l.line LIKE '"%' THEN substring(l.line FROM '^("(?:[^"\\]|\\.)*"): ')
                        ELSE to_json(substring(l.line FROM '^([A-Za-z][A-Za-z0-9]*): '))::text END
                    || ':' || substring(l.line FROM '^(?:[A-Za-z][A-Za-z0-9]*|"(?:[^"\\]|\\.)*"): (.*)$'),
                    -- Not JSON, so that no field is left out.
                    '?'
                ), ',' ORDER BY l.at) || '}'
                FROM unnest(string_to_array(rtrim(convert_from(encoded, 'UTF8'), E'\n'), E'\n')) WITH ORDINALITY AS l (line, at)
            )::json;
        EXCEPTION WHEN OTHERS THEN
            -- A hand has written it.
            NULL;
        END;
    END IF;
    RETURN json_build_object('encoded', json_build_object('mediaType', media_type, 'sizeBytes', octet_length(encoded)));
END $$;

COMMENT ON FUNCTION readable_object(json, bytea, text) IS
    'What is shown of an object: itself, where its bytes are JSON or YAML; else, as for protobuf and what is encrypted, what they are and how many.';

-- Functions that are handed a whole Secret find their operators where they belong, whatever the reader has on the search path.
DO $$
DECLARE
    of text;
BEGIN
    FOREACH of IN ARRAY ARRAY['without_secret_data(json)', 'readable_object(json, bytea, text)'] LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = pg_catalog, %I', of, current_schema());
    END LOOP;
END $$;

-- For the views below. Each part of the bytes is looked for by itself, so that a query that does not ask for it pays nothing; what is JSON
-- is shown without a call for each row.
CREATE VIEW objects_with_bytes AS
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

COMMENT ON VIEW objects_with_bytes IS 'The live objects, with their bytes wherever these are. For the other views: hides nothing.';

CREATE VIEW secret_data AS
SELECT namespace, name, uid, revision, object, encoded, media_type, modified_at
FROM objects_with_bytes
WHERE api_group = '' AND resource = 'secrets';

COMMENT ON VIEW secret_data IS 'The live Secrets with what they hold. Who may read this view is shown it in all the others as well.';

-- Each view names secret_data by its id, so that no table of the reader's making can stand for it.
CREATE VIEW current_objects AS
SELECT
    api_group, resource, namespace, name, uid, revision,
    CASE WHEN api_group = '' AND resource = 'secrets' AND NOT has_table_privilege('secret_data'::regclass, 'SELECT')
        THEN without_secret_data(object) ELSE object END AS object,
    modified_at, expires_at,
    CASE WHEN api_group = '' AND resource = 'secrets' AND NOT has_table_privilege('secret_data'::regclass, 'SELECT')
        THEN NULL ELSE encoded END AS encoded,
    media_type
FROM objects_with_bytes;

COMMENT ON VIEW current_objects IS 'The live objects. What Secrets hold is hidden from those who may not read secret_data: data, stringData, the last-applied annotation, and bytes in another encoding.';

CREATE VIEW objects_jsonb AS
SELECT api_group, resource, namespace, name, uid, revision, as_jsonb(object) AS object, modified_at, expires_at
FROM current_objects;

COMMENT ON VIEW objects_jsonb IS 'The live objects, for those who want jsonb. Hides what current_objects hides.';

CREATE VIEW history AS
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

COMMENT ON VIEW history IS 'Who changed what, when. Hides what current_objects hides.';

CREATE VIEW history_jsonb AS
SELECT
    revision, at, who, verb, what, namespace, name, manager, user_agent, source_address, request_id, previous_revision,
    as_jsonb(object) AS object
FROM history;

COMMENT ON VIEW history_jsonb IS 'history, for those who want jsonb.';

CREATE VIEW superseded_objects AS
SELECT
    revision, superseded_by, api_group, resource, namespace, name, uid,
    CASE WHEN api_group = '' AND resource = 'secrets' AND NOT has_table_privilege('secret_data'::regclass, 'SELECT')
        THEN without_secret_data(readable_object(object, encoded, media_type))
        WHEN object IS NULL THEN readable_object(object, encoded, media_type)
        ELSE object END AS object
FROM superseded;

COMMENT ON VIEW superseded_objects IS 'States that the log no longer has, for object_at and cluster_at. Hides what current_objects hides.';

CREATE VIEW labels AS
SELECT o.api_group, o.resource, o.namespace, o.name, l.key, l.value
FROM current_objects o
CROSS JOIN LATERAL json_each_text(
    CASE WHEN json_typeof(o.object -> 'metadata' -> 'labels') = 'object' THEN o.object -> 'metadata' -> 'labels' END
) l;

COMMENT ON VIEW labels IS 'The labels of all live objects, a row each.';

CREATE VIEW conditions AS
SELECT
    o.api_group, o.resource, o.namespace, o.name, c.condition ->> 'type' AS type, c.condition ->> 'status' AS status,
    c.condition ->> 'reason' AS reason, c.condition ->> 'message' AS message,
    c.condition ->> 'lastTransitionTime' AS changed_at
FROM current_objects o
CROSS JOIN LATERAL json_array_elements(
    CASE WHEN json_typeof(o.object -> 'status' -> 'conditions') = 'array' THEN o.object -> 'status' -> 'conditions' END
) AS c (condition);

COMMENT ON VIEW conditions IS 'The conditions of all live objects, a row each.';

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

COMMENT ON FUNCTION quantity(text) IS 'A quantity of Kubernetes as a number; null for what is none.';
