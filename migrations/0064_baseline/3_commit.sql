-- Commits: how writes get into the log and into the objects, and how a server finds out whether the log is still the one it knows.

-- For the rest of the transaction: its commit is what an acknowledgement promises, whatever the role or a pooler has set, and PostgreSQL
-- says when it ends the wait for a standby early, which it does by a warning alone.
CREATE FUNCTION assure_durability() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('synchronous_commit') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    IF current_setting('client_min_messages') = 'error' THEN
        PERFORM set_config('client_min_messages', 'warning', true);
    END IF;
END $$;

-- Why the log may not be the one the caller knows; null when nothing speaks against it. `seen` is the newest revision the caller knows
-- to have been visible, `seen_write` the write id of its row. No row above the compacted revision is ever deleted.
--
-- A data directory that was put back by hand, under the same timeline, shows by `seen` alone: when no server that runs remembers what was
-- lost, it cannot be noticed.
CREATE FUNCTION doubt_history(seen bigint, seen_write uuid) RETURNS text
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    present epochs;
    found   uuid;
BEGIN
    SELECT * INTO STRICT present FROM epochs ORDER BY epoch DESC LIMIT 1;
    IF present.system_id <> database_system() THEN
        RETURN 'the database was moved to another PostgreSQL system';
    ELSIF present.timeline <> database_timeline() THEN
        RETURN format('PostgreSQL went from timeline %s to %s', present.timeline, database_timeline());
    ELSIF seen IS NULL OR seen <= present.epoch OR seen <= (SELECT c.revision FROM compaction c) THEN
        RETURN NULL;
    END IF;
    SELECT r.write_id INTO found FROM revisions r WHERE r.revision = seen;
    IF found IS NULL THEN
        RETURN format('revision %s is gone', seen);
    ELSIF found <> seen_write THEN
        RETURN format('revision %s is another write', seen);
    END IF;
    RETURN NULL;
END $$;

-- Begins an epoch when there is reason to. Returns the present one.
--
-- Nothing says how much was handed out by a database that is gone. A thousand million is what is left for it, and milliseconds since 1970
-- are beyond what 1000 writes a second can reach, also over several epochs of which a restore has lost the rows.
CREATE FUNCTION keep_epoch(seen bigint, seen_write uuid) RETURNS bigint
LANGUAGE plpgsql
SET lock_timeout = '10s'
AS $$
DECLARE
    doubt   text;
    present bigint;
    newest  bigint;
BEGIN
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    PERFORM assure_durability();
    SELECT max(e.epoch) INTO present FROM epochs e;
    doubt := doubt_history(seen, seen_write);
    IF doubt IS NULL THEN
        RETURN present;
    END IF;
    SELECT max(r.revision) INTO newest FROM revisions r;
    present := greatest(
        greatest(newest, present, seen) + 1000000000,
        floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
    );
    PERFORM setval('revisions_revision_seq', present);
    INSERT INTO epochs VALUES (present, database_system(), database_timeline(), clock_timestamp(), doubt);
    RETURN present;
END $$;

-- Appends a batch of writes in one transaction, given as one array for each column: element i of all of them is write i. Arrays arrive
-- in binary and are not parsed, and an object goes from its array to the log without being copied through a sort: half the CPU of
-- a function that takes JSON.
--
-- `expected` is the revision the live object must be at, 0 when there must be none. Write i's new revision is accepted[i]; where that is
-- null it was refused, alone, and live[i] is the revision that is in the way, null when there is no live object. At most one write
-- for each key. Where objects[i] is null, encodings[i] has the bytes and media_types[i] says what they are; either array may be null,
-- when all are JSON.
--
-- `seen` and `seen_write` are what the caller knows of the log, as in doubt_history, and `callers_clock` is its clock. Where they speak
-- against the log, a new epoch begins before the batch is looked at. The batch may then go on: an `expected` of the old epoch is no
-- revision of the new one unless its object is the same. Time in the log never runs backwards, and never further ahead of the
-- caller's clock than a minute: a clock that jumps a year ahead would stop it for a year.
--
-- What the caller has seen is in one of the last partitions, so those before it are not looked at. A partition that is missing, because
-- none was made ahead in time, is made here. The planner settings keep the plan an index lookup for each write, whatever the
-- statistics say of a young table.
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

-- commit_revisions for batches in which writes claim or release values. holds[i] is null, which changes nothing, or an array of
-- {pool, value, kept}: all values the object holds once it is written. What it held besides is released. A value that is not `kept`
-- from before must be free: a write that claims one which another object holds is refused alone, and `taken` has it as
-- {ordinal, pool, value}. No two writes of one batch may claim the same value.
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

-- The same for servers of older versions, which know objects in JSON alone.
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
        revision, api_group, resource, namespace, name, uid, verb, previous_revision, object, committed_at, write_id,
        expires_at, username, user_agent, source_address, request_id, field_manager, follows_revision
    )
    SELECT
        accepted[i], api_groups[i], resources[i], namespaces[i], names[i], uids[i], verbs[i], live[i], objects[i],
        moment, write_ids[i], expiries[i], usernames[i], user_agents[i], source_addresses[i], request_ids[i],
        field_managers[i], newest
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
        usernames, user_agents, source_addresses, request_ids, field_managers, seen, seen_write, callers_clock
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

-- For servers of still older ones, which remember nothing of the log.
CREATE FUNCTION commit_revisions(
    objects json[], verbs text[], api_groups text[], resources text[], namespaces text[], names text[], uids text[],
    expected bigint[], write_ids uuid[], expiries timestamptz[], usernames text[], user_agents text[],
    source_addresses text[], request_ids text[], field_managers text[],
    OUT accepted bigint[], OUT live bigint[]
)
LANGUAGE plpgsql AS $$
BEGIN
    SELECT c.accepted, c.live INTO accepted, live
    FROM commit_revisions(
        objects, verbs, api_groups, resources, namespaces, names, uids, expected, write_ids, expiries,
        usernames, user_agents, source_addresses, request_ids, field_managers, NULL, NULL, NULL
    ) c;
END $$;

CREATE FUNCTION commit_holding_revisions(
    objects json[], verbs text[], api_groups text[], resources text[], namespaces text[], names text[], uids text[],
    expected bigint[], write_ids uuid[], expiries timestamptz[], usernames text[], user_agents text[],
    source_addresses text[], request_ids text[], field_managers text[], holds json,
    OUT accepted bigint[], OUT live bigint[], OUT taken jsonb
)
LANGUAGE plpgsql AS $$
BEGIN
    SELECT c.accepted, c.live, c.taken INTO accepted, live, taken
    FROM commit_holding_revisions(
        objects, verbs, api_groups, resources, namespaces, names, uids, expected, write_ids, expiries,
        usernames, user_agents, source_addresses, request_ids, field_managers, NULL, NULL, NULL, holds
    ) c;
END $$;

CREATE FUNCTION commit_revisions(batch json, objects json[])
RETURNS TABLE (ordinal integer, accepted_revision bigint, live_revision bigint)
LANGUAGE sql AS $$
    WITH columns AS MATERIALIZED (
        SELECT
            array_agg(w.ordinal) AS ordinals, array_agg(w.verb) AS verbs, array_agg(w.api_group) AS api_groups,
            array_agg(w.resource) AS resources, array_agg(w.namespace) AS namespaces, array_agg(w.name) AS names,
            array_agg(w.uid) AS uids, array_agg(coalesce(w.expected, 0)) AS expected, array_agg(w.write_id) AS write_ids,
            array_agg(w.expires_at) AS expiries, array_agg(w.username) AS usernames, array_agg(w.user_agent) AS user_agents,
            array_agg(w.source_address) AS source_addresses, array_agg(w.request_id) AS request_ids,
            array_agg(w.field_manager) AS field_managers
        FROM json_to_recordset(batch) AS w (
            ordinal integer, verb text, api_group text, resource text, namespace text, name text, uid text,
            expected bigint, write_id uuid, expires_at timestamptz,
            username text, user_agent text, source_address text, request_id text, field_manager text
        )
        HAVING count(*) > 0
    )
    SELECT a.*
    FROM columns w
    CROSS JOIN LATERAL commit_revisions(
        objects, w.verbs, w.api_groups, w.resources, w.namespaces, w.names, w.uids, w.expected, w.write_ids, w.expiries,
        w.usernames, w.user_agents, w.source_addresses, w.request_ids, w.field_managers, NULL, NULL, NULL
    ) c
    CROSS JOIN LATERAL unnest(w.ordinals, c.accepted, c.live) AS a (ordinal, accepted_revision, live_revision)
$$;

-- Returns when every commit whose record was written before the call is visible. Between writing the record and becoming visible a
-- commit may wait for a standby, or for the processor, and holds the lock.
CREATE FUNCTION await_commits() RETURNS void
LANGUAGE plpgsql
SET lock_timeout = '10s'
AS $$
BEGIN
    LOCK TABLE ONLY commit_order IN SHARE MODE;
END $$;

-- Which of some writes are in the log. What is found is as durable as any acknowledged commit once this call has ended: the message
-- makes its transaction one that waits for standbys, behind all that was written before.
CREATE FUNCTION find_writes(ids uuid[], after bigint) RETURNS TABLE (write_id uuid, revision bigint)
LANGUAGE plpgsql
SET lock_timeout = '10s'
AS $$
BEGIN
    LOCK TABLE ONLY commit_order IN SHARE MODE;
    RETURN QUERY SELECT r.write_id, r.revision FROM revisions r WHERE r.revision > after AND r.write_id = ANY (ids);
    IF FOUND THEN
        PERFORM assure_durability();
        PERFORM pg_logical_emit_message(true, 'pg-apiserver', 'found');
    END IF;
END $$;

-- Makes the allocations those of the live objects of one resource. `holders` is an array of {ordinal, namespace, name, revision,
-- values: [{pool, value}]}; an object that was written since is left alone. Returns what was removed, what was added, and what an
-- object states but another holds: of several that state the same value, the first keeps it.
--
-- One call, because it holds the ordering lock: a client that vanished between two statements would stop all writes.
CREATE FUNCTION repair_allocations(of_group text, of_resource text, holders json)
RETURNS TABLE (outcome text, pool text, value text, namespace text, name text)
LANGUAGE plpgsql
SET lock_timeout = '10s'
AS $$
#variable_conflict use_column
DECLARE
    -- The values of unchanged objects; and those objects, also when they hold none.
    stated    json;
    unchanged json;
BEGIN
    -- Writes wait: what is read here must still be so when it is put right.
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    PERFORM assure_durability();
    SELECT coalesce(json_agg(json_build_object('namespace', g.namespace, 'name', g.name)), '[]') INTO unchanged
    FROM json_to_recordset(holders) AS g (namespace text, name text, revision bigint)
    JOIN objects h ON h.api_group = of_group AND h.resource = of_resource AND h.namespace = g.namespace AND h.name = g.name
        AND h.revision = g.revision;
    SELECT coalesce(json_agg(json_build_object(
        'ordinal', g.ordinal, 'namespace', g.namespace, 'name', g.name, 'pool', v.pool, 'value', v.value
    )), '[]') INTO stated
    FROM json_to_recordset(holders) AS g (ordinal int, namespace text, name text, revision bigint, values json)
    JOIN objects h ON h.api_group = of_group AND h.resource = of_resource AND h.namespace = g.namespace AND h.name = g.name
        AND h.revision = g.revision
    CROSS JOIN LATERAL json_to_recordset(g.values) AS v (pool text, value text);

    RETURN QUERY
    DELETE FROM allocations l
    WHERE l.api_group = of_group AND l.resource = of_resource AND (
        NOT EXISTS (
            SELECT FROM objects h
            WHERE h.api_group = l.api_group AND h.resource = l.resource AND h.namespace = l.namespace AND h.name = l.name
        ) OR (
            (l.namespace, l.name) IN (
                SELECT u.namespace, u.name FROM json_to_recordset(unchanged) AS u (namespace text, name text)
            )
            AND (l.namespace, l.name, l.pool, l.value) NOT IN (
                SELECT s.namespace, s.name, s.pool, s.value
                FROM json_to_recordset(stated) AS s (namespace text, name text, pool text, value text)
            )
        )
    )
    RETURNING 'removed', l.pool, l.value, l.namespace, l.name;

    RETURN QUERY
    INSERT INTO allocations AS l (pool, value, api_group, resource, namespace, name, allocated_at)
    SELECT DISTINCT ON (s.pool, s.value) s.pool, s.value, of_group, of_resource, s.namespace, s.name, now()
    FROM json_to_recordset(stated) AS s (ordinal int, namespace text, name text, pool text, value text)
    ORDER BY s.pool, s.value, s.ordinal
    ON CONFLICT DO NOTHING
    RETURNING 'added', l.pool, l.value, l.namespace, l.name;

    RETURN QUERY
    SELECT 'contested', s.pool, s.value, s.namespace, s.name
    FROM json_to_recordset(stated) AS s (ordinal int, namespace text, name text, pool text, value text)
    JOIN allocations l ON l.pool = s.pool AND l.value = s.value
    WHERE (l.api_group, l.resource, l.namespace, l.name) <> (of_group, of_resource, s.namespace, s.name)
    ORDER BY s.ordinal, s.pool, s.value;
END $$;
