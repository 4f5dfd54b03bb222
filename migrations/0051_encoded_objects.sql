-- beside: 44
--
-- Objects may be stored in another form than JSON: their bytes are in `encoded`, and what these are in `media_type` beside it. What is
-- encrypted says there by which provider and key.
--
-- Servers of before go on as long as everything is JSON; they can read nothing else.

-- commit_revisions as before (0043), for objects in whatever form. Where objects[i] is null, encodings[i] has the bytes and
-- media_types[i] says what they are; either array may be null, when all are JSON.
CREATE FUNCTION commit_revisions(
    objects          json[],
    verbs            text[],
    api_groups       text[],
    resources        text[],
    namespaces       text[],
    names            text[],
    uids             text[],
    expected         bigint[],
    write_ids        uuid[],
    expiries         timestamptz[],
    usernames        text[],
    user_agents      text[],
    source_addresses text[],
    request_ids      text[],
    field_managers   text[],
    seen             bigint,
    seen_write       uuid,
    callers_clock    timestamptz,
    encodings        bytea[],
    media_types      text[],
    OUT accepted     bigint[],
    OUT live         bigint[]
)
LANGUAGE plpgsql
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
-- Plans made for the arrays of one call would be made anew for each.
SET plan_cache_mode = force_generic_plan
SET lock_timeout = '10s'
AS $$
DECLARE
    epoch       bigint;
    timeline    text;
    newest      bigint;
    found_write uuid;
    moment      timestamptz;
    bounds      log_bounds;
    -- Where each object lies. It stays there until the end: all who write objects hold the lock, and what rewrites the whole
    -- table waits for our transaction.
    places      tid[];
    last        bigint;
    oldest      bigint;
BEGIN
    -- In a statement of its own: the next ones then have a snapshot that sees every earlier batch.
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    IF current_setting('synchronous_commit') = 'off' OR current_setting('client_min_messages') = 'error' THEN
        PERFORM assure_durability();
    END IF;
    SELECT e.epoch, e.timeline, r.revision, r.committed_at, (SELECT k.write_id FROM revisions k WHERE k.revision = seen)
    INTO epoch, timeline, newest, moment, found_write
    FROM (SELECT p.epoch, p.timeline FROM epochs p ORDER BY p.epoch DESC LIMIT 1) e
    LEFT JOIN (
        SELECT n.revision, n.committed_at FROM revisions n WHERE n.revision >= coalesce(seen, 0) ORDER BY n.revision DESC LIMIT 1
    ) r ON true;
    IF timeline <> database_timeline() OR seen > epoch AND (newest IS NULL OR seen_write <> found_write) THEN
        epoch := keep_epoch(seen, seen_write);
    END IF;
    IF newest IS NULL AND seen IS NOT NULL THEN
        SELECT n.revision, n.committed_at INTO newest, moment FROM revisions n ORDER BY n.revision DESC LIMIT 1;
    END IF;
    newest := greatest(newest, epoch);
    -- Either may be null, which greatest and least pass over.
    moment := greatest(moment, least(clock_timestamp(), callers_clock + interval '1 minute'));

    SELECT array_agg(checked.id), array_agg(checked.revision), array_agg(checked.place), max(checked.id), min(checked.revision)
    INTO accepted, live, places, last, oldest
    FROM (
        SELECT
            CASE WHEN coalesce(h.revision, 0) = expected[w.i] THEN nextval('revisions_revision_seq') END AS id,
            h.revision,
            h.ctid AS place
        FROM unnest(names) WITH ORDINALITY AS w (name, i)
        LEFT JOIN objects h ON h.api_group = api_groups[w.i] AND h.resource = resources[w.i]
            AND h.namespace = namespaces[w.i] AND h.name = w.name
        ORDER BY w.i
    ) checked;

    SELECT b.* INTO bounds FROM log_bounds b;
    IF last >= bounds.high THEN
        PERFORM make_partition(last);
    END IF;
    -- States that are in the log no more are overwritten below.
    IF oldest < bounds.low THEN
        INSERT INTO superseded (
            revision, superseded_by, api_group, resource, namespace, name, uid, object, encoded, media_type, committed_at
        )
        SELECT o.revision, accepted[i], o.api_group, o.resource, o.namespace, o.name, o.uid, o.object, o.encoded, o.media_type,
            o.modified_at
        FROM generate_series(1, cardinality(names)) AS i
        JOIN objects o ON o.ctid = places[i]
        WHERE accepted[i] IS NOT NULL AND live[i] < bounds.low
        ON CONFLICT DO NOTHING;
    END IF;

    INSERT INTO revisions (
        revision, api_group, resource, namespace, name, uid, verb, previous_revision, object, encoded, media_type, committed_at,
        write_id, expires_at, username, user_agent, source_address, request_id, field_manager, follows_revision
    )
    SELECT
        accepted[i], api_groups[i], resources[i], namespaces[i], names[i], uids[i], verbs[i], live[i], objects[i],
        encodings[i], media_types[i], moment, write_ids[i], expiries[i], usernames[i], user_agents[i], source_addresses[i],
        request_ids[i], field_managers[i], newest
    FROM generate_series(1, cardinality(names)) AS i
    WHERE accepted[i] IS NOT NULL;

    IF 0 = ANY (expected) THEN
        INSERT INTO objects (api_group, resource, namespace, name, revision, uid, expires_at, modified_at)
        SELECT api_groups[i], resources[i], namespaces[i], names[i], accepted[i], uids[i], expiries[i], moment
        FROM generate_series(1, cardinality(names)) AS i
        WHERE accepted[i] IS NOT NULL AND places[i] IS NULL AND verbs[i] <> 'delete';
    END IF;
    IF 0 < ANY (expected) THEN
        UPDATE objects h
        SET revision = accepted[i], uid = uids[i], expires_at = expiries[i], object = NULL, encoded = NULL, media_type = NULL,
            modified_at = moment
        FROM generate_series(1, cardinality(names)) AS i
        WHERE h.ctid = places[i] AND accepted[i] IS NOT NULL AND verbs[i] <> 'delete';
    END IF;
    IF 'delete' = ANY (verbs) THEN
        DELETE FROM objects h
        USING generate_series(1, cardinality(names)) AS i
        WHERE h.ctid = places[i] AND accepted[i] IS NOT NULL AND verbs[i] = 'delete';
    END IF;
END $$;

-- commit_holding_revisions as before (0020), likewise.
CREATE FUNCTION commit_holding_revisions(
    objects          json[],
    verbs            text[],
    api_groups       text[],
    resources        text[],
    namespaces       text[],
    names            text[],
    uids             text[],
    expected         bigint[],
    write_ids        uuid[],
    expiries         timestamptz[],
    usernames        text[],
    user_agents      text[],
    source_addresses text[],
    request_ids      text[],
    field_managers   text[],
    seen             bigint,
    seen_write       uuid,
    callers_clock    timestamptz,
    encodings        bytea[],
    media_types      text[],
    holds            json,
    OUT accepted     bigint[],
    OUT live         bigint[],
    OUT taken        jsonb
)
LANGUAGE plpgsql
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan
SET lock_timeout = '10s'
AS $$
DECLARE
    contested record;
BEGIN
    -- The lock of commit_revisions, taken before anything is looked at.
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    taken := '[]';
    FOR contested IN
        SELECT DISTINCT ON (w.ordinal) w.ordinal, v.pool, v.value
        FROM json_array_elements(holds) WITH ORDINALITY AS w (claims, ordinal)
        CROSS JOIN LATERAL json_to_recordset(CASE json_typeof(w.claims) WHEN 'array' THEN w.claims END)
            AS v (pool text, value text, kept boolean)
        JOIN allocations l ON l.pool = v.pool AND l.value = v.value
        WHERE NOT v.kept AND (l.api_group, l.resource, l.namespace, l.name) <>
            (api_groups[w.ordinal], resources[w.ordinal], namespaces[w.ordinal], names[w.ordinal])
        ORDER BY w.ordinal
    LOOP
        taken := taken || to_jsonb(contested);
        -- No object ever is at this revision.
        expected[contested.ordinal] := -1;
    END LOOP;

    SELECT c.accepted, c.live INTO accepted, live
    FROM commit_revisions(
        objects, verbs, api_groups, resources, namespaces, names, uids, expected, write_ids, expiries,
        usernames, user_agents, source_addresses, request_ids, field_managers, seen, seen_write, callers_clock,
        encodings, media_types
    ) c;

    INSERT INTO allocations (pool, value, api_group, resource, namespace, name, allocated_at)
    SELECT v.pool, v.value, api_groups[w.i], resources[w.i], namespaces[w.i], names[w.i], clock_timestamp()
    FROM json_array_elements(holds) WITH ORDINALITY AS w (claims, i)
    CROSS JOIN LATERAL json_to_recordset(CASE json_typeof(w.claims) WHEN 'array' THEN w.claims END)
        AS v (pool text, value text)
    WHERE accepted[w.i] IS NOT NULL
    ON CONFLICT (pool, value) DO NOTHING;

    DELETE FROM allocations l
    USING json_array_elements(holds) WITH ORDINALITY AS w (claims, i)
    WHERE json_typeof(w.claims) = 'array' AND accepted[w.i] IS NOT NULL
      AND l.api_group = api_groups[w.i] AND l.resource = resources[w.i]
      AND l.namespace = namespaces[w.i] AND l.name = names[w.i]
      AND NOT EXISTS (
          SELECT FROM json_to_recordset(CASE json_typeof(w.claims) WHEN 'array' THEN w.claims END)
              AS v (pool text, value text)
          WHERE v.pool = l.pool AND v.value = l.value
      );
END $$;

-- Those who tail the log are sent the bytes in whatever form.
DO $$
BEGIN
    IF current_setting('server_version_num')::int >= 150000 THEN
        EXECUTE 'ALTER PUBLICATION pg_apiserver_revisions SET TABLE revisions (
            revision, api_group, resource, namespace, name, uid, verb, previous_revision, object, encoded, media_type,
            committed_at, write_id, follows_revision
        )';
    END IF;
END $$;

-- What is shown of an object. Where PostgreSQL cannot read it, that is in which form it is stored:
-- {"encoded": {"mediaType": "…", "sizeBytes": 812}}
CREATE FUNCTION readable_object(object json, encoded bytea, media_type text) RETURNS json
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN object IS NULL AND encoded IS NOT NULL
        THEN json_build_object('encoded', json_build_object('mediaType', media_type, 'sizeBytes', octet_length(encoded)))
        ELSE object END
$$;

-- As before (0042, 0040), with what is readable in place of nothing.
CREATE OR REPLACE VIEW objects_with_bytes AS
SELECT
    o.api_group, o.resource, o.namespace, o.name, o.uid, o.revision,
    CASE WHEN o.object IS NULL AND o.encoded IS NULL
        THEN (SELECT readable_object(r.object, r.encoded, r.media_type) FROM revisions r WHERE r.revision = o.revision)
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
        ELSE readable_object(object, encoded, media_type) END AS object,
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
        ELSE readable_object(object, encoded, media_type) END AS object
FROM superseded;

COMMENT ON FUNCTION readable_object(json, bytea, text) IS 'What is shown of an object: where its bytes are not JSON, what they are.';
COMMENT ON COLUMN revisions.media_type IS 'What encoded is: for what is encrypted, with the provider and the key that it was encrypted by.';
COMMENT ON COLUMN objects.media_type IS 'What encoded is: for what is encrypted, with the provider and the key that it was encrypted by.';

-- grant_reader as it is, with the right to this; and the right for those who were granted a view by hand.
DO $$
DECLARE
    before text := pg_get_functiondef('grant_reader(name)'::regprocedure);
    last   text := $last$'EXECUTE ON FUNCTION as_jsonb(json), without_secret_data(json)'$last$;
    more   text := $more$'EXECUTE ON FUNCTION as_jsonb(json), without_secret_data(json), readable_object(json, bytea, text)'$more$;
    reader record;
BEGIN
    IF position(last IN before) = 0 THEN
        RAISE EXCEPTION 'grant_reader does not say where rights to functions belong';
    END IF;
    EXECUTE replace(before, last, more);
    FOR reader IN
        SELECT DISTINCT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END AS name
        FROM pg_class c, aclexplode(c.relacl) a
        WHERE a.privilege_type = 'SELECT' AND a.grantee <> c.relowner AND c.oid IN (
            'history'::regclass, 'history_jsonb'::regclass, 'current_objects'::regclass, 'objects_jsonb'::regclass,
            'superseded_objects'::regclass, 'secret_data'::regclass, 'objects_with_bytes'::regclass
        )
    LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION readable_object(json, bytea, text) TO %s', reader.name);
    END LOOP;
END $$;
