-- The ordering lock. Whoever appends to the log holds this table EXCLUSIVE until its transaction ends; whoever must know that
-- every commit so far is visible takes it in SHARE mode. A table, because the right to lock one can be denied: an advisory lock
-- may be taken by anybody who may connect. It stays empty.
--
-- It is taken inside functions, each of which is one call, so no client that vanishes between two statements holds it.
CREATE TABLE commit_order ();

COMMENT ON TABLE commit_order IS 'Locked by whoever appends to the log: the order of ids is the order of commits. Always empty.';

-- The newest revision there was when this row's batch began. Who follows the log and has not got as far has missed something.
ALTER TABLE revisions ADD COLUMN follows_revision bigint;
ALTER TABLE revisions ALTER COLUMN follows_revision SET STATISTICS 10;
-- Calls that began before this migration still hold the advisory lock alone, and must not commit beside those that hold the
-- table. They do not say what they follow, and fail; their servers send them again.
ALTER TABLE revisions ADD CONSTRAINT revisions_follow CHECK (follows_revision IS NOT NULL) NOT VALID;
COMMENT ON COLUMN revisions.follows_revision IS 'The newest revision when the batch of this row was committed; null in rows from before it was kept.';

DO $$
BEGIN
    IF current_setting('server_version_num')::int >= 150000 THEN
        EXECUTE 'ALTER PUBLICATION pg_apiserver_revisions SET TABLE revisions (
            revision, api_group, resource, namespace, name, uid, verb, previous_revision, object, committed_at, write_id,
            follows_revision
        )';
    END IF;
END $$;

-- Histories. A promoted replica and a restored backup may lack commits that were acknowledged, and would give their revisions
-- out again. What begins then is a new epoch. It is named by the revision it begins after, which is beyond anything that was
-- handed out before. To clients, everything older is compacted; SQL still sees all rows.
CREATE TABLE epochs (
    epoch     bigint      PRIMARY KEY,
    -- Of PostgreSQL; null where it does not say.
    system_id text        COLLATE "C",
    timeline  text        COLLATE "C",
    began_at  timestamptz NOT NULL,
    reason    text        NOT NULL
);
COMMENT ON TABLE epochs IS 'Histories of the cluster: each begins after the revision that names it, when a failover or a restore may have lost commits.';

-- Neither function fails: a service may withhold what they ask, and then only what servers remember tells of lost commits.
CREATE FUNCTION database_timeline() RETURNS text LANGUAGE sql AS $$
    SELECT CASE WHEN NOT pg_is_in_recovery() THEN left(pg_walfile_name(pg_current_wal_lsn()), 8) END
$$;
CREATE FUNCTION database_system() RETURNS text LANGUAGE sql AS $$
    SELECT system_identifier::text FROM pg_control_system()
$$;
DO $$
BEGIN
    PERFORM database_timeline();
EXCEPTION WHEN feature_not_supported OR insufficient_privilege OR object_not_in_prerequisite_state THEN
    CREATE OR REPLACE FUNCTION database_timeline() RETURNS text LANGUAGE sql AS 'SELECT NULL::text';
END $$;
DO $$
BEGIN
    PERFORM database_system();
EXCEPTION WHEN feature_not_supported OR insufficient_privilege OR object_not_in_prerequisite_state THEN
    CREATE OR REPLACE FUNCTION database_system() RETURNS text LANGUAGE sql AS 'SELECT NULL::text';
END $$;

INSERT INTO epochs VALUES (0, database_system(), database_timeline(), clock_timestamp(), 'the schema was made');

-- Why the log may not be the one the caller knows; null when nothing speaks against it. `seen` is the newest revision the caller
-- knows to have been visible, `seen_write` the write id of its row. Rows above the compacted revision are deleted by nobody.
--
-- A data directory that was put back by hand, under the same timeline, shows by `seen` alone: when no server that runs remembers
-- what was lost, it cannot be noticed.
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

-- Begins an epoch when there is reason to. Answers the present one.
--
-- Nothing says how much was handed out by a database that is gone. A thousand million is what is left for it, and milliseconds
-- since 1970 are beyond what 1000 writes a second can reach, also over several epochs of which a restore has lost the rows.
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

-- For the rest of the transaction: its commit is what an acknowledgement promises, whatever the role or a pooler has set, and
-- PostgreSQL says when it ends the wait for a standby early, which it does by a warning alone.
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

-- Returns when every commit whose record was written before the call is visible. Between writing the record and becoming
-- visible a commit may wait for a standby, or for the processor, and holds the lock.
CREATE FUNCTION await_commits() RETURNS void
LANGUAGE plpgsql
SET lock_timeout = '10s'
AS $$
BEGIN
    LOCK TABLE ONLY commit_order IN SHARE MODE;
END $$;

-- Which of some writes are in the log. What is found is as durable as any acknowledged commit once this call has ended: the
-- message makes its transaction one that waits for standbys, behind all that was written before.
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

-- commit_revisions as before, with the lock that can be denied, and with what the caller knows of the log: `seen` and
-- `seen_write` as in doubt_history, and its clock. Where they speak against the log, a new epoch begins before the batch is
-- looked at. The batch may then go on: an `expected` of the old epoch is no revision of the new one unless its object is the same.
--
-- Time in the log never runs backwards, and never further ahead of the caller's clock than a minute: a clock that jumps a year
-- ahead would stop it for a year.
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
    -- Where each head lies. It stays there until the end: all who write heads hold the lock, and what rewrites the whole table
    -- waits for our transaction.
    places      tid[];
BEGIN
    -- In a statement of its own: the next ones then have a snapshot that sees every earlier batch.
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    IF current_setting('synchronous_commit') = 'off' OR current_setting('client_min_messages') = 'error' THEN
        PERFORM assure_durability();
    END IF;
    SELECT e.epoch, e.timeline, r.revision, r.committed_at, (SELECT k.write_id FROM revisions k WHERE k.revision = seen)
    INTO epoch, timeline, newest, moment, found_write
    FROM (SELECT p.epoch, p.timeline FROM epochs p ORDER BY p.epoch DESC LIMIT 1) e
    LEFT JOIN (SELECT n.revision, n.committed_at FROM revisions n ORDER BY n.revision DESC LIMIT 1) r ON true;
    IF timeline <> database_timeline() OR seen > epoch AND (seen > coalesce(newest, 0) OR seen_write <> found_write) THEN
        epoch := keep_epoch(seen, seen_write);
    END IF;
    newest := greatest(newest, epoch);
    -- Either may be null, which greatest and least pass over.
    moment := greatest(moment, least(clock_timestamp(), callers_clock + interval '1 minute'));

    SELECT array_agg(checked.id), array_agg(checked.revision), array_agg(checked.place)
    INTO accepted, live, places
    FROM (
        SELECT
            CASE WHEN coalesce(h.revision, 0) = expected[w.i] THEN nextval('revisions_revision_seq') END AS id,
            h.revision,
            h.ctid AS place
        FROM unnest(names) WITH ORDINALITY AS w (name, i)
        LEFT JOIN heads h ON h.api_group = api_groups[w.i] AND h.resource = resources[w.i]
            AND h.namespace = namespaces[w.i] AND h.name = w.name
        ORDER BY w.i
    ) checked;

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
        INSERT INTO heads (api_group, resource, namespace, name, revision, uid, expires_at)
        SELECT api_groups[i], resources[i], namespaces[i], names[i], accepted[i], uids[i], expiries[i]
        FROM generate_series(1, cardinality(names)) AS i
        WHERE accepted[i] IS NOT NULL AND places[i] IS NULL AND verbs[i] <> 'delete';
    END IF;
    IF 0 < ANY (expected) THEN
        UPDATE heads h
        SET revision = accepted[i], uid = uids[i], expires_at = expiries[i]
        FROM generate_series(1, cardinality(names)) AS i
        WHERE h.ctid = places[i] AND accepted[i] IS NOT NULL AND verbs[i] <> 'delete';
    END IF;
    IF 'delete' = ANY (verbs) THEN
        DELETE FROM heads h
        USING generate_series(1, cardinality(names)) AS i
        WHERE h.ctid = places[i] AND accepted[i] IS NOT NULL AND verbs[i] = 'delete';
    END IF;
END $$;

-- For servers of the version before, which remember nothing.
CREATE OR REPLACE FUNCTION commit_revisions(
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
ALTER FUNCTION commit_revisions(
    json[], text[], text[], text[], text[], text[], text[], bigint[], uuid[], timestamptz[], text[], text[], text[], text[], text[]
) RESET ALL;

-- The same, of a batch as json: what expires objects in servers of the version before.
CREATE OR REPLACE FUNCTION commit_revisions(batch json, objects json[])
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
ALTER FUNCTION commit_revisions(json, json[]) RESET ALL;

-- No server that may run beside this schema calls it.
DROP FUNCTION commit_holding_revisions(json, json[]);

-- commit_revisions for batches in which writes claim or release values. holds[i] is null, which changes nothing, or an array of
-- {pool, value, kept}: all values the object holds once it is written. What it held besides is released. A value that is not
-- `kept` from before must be free: a write that claims one which another object holds is refused alone, and `taken` has it as
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

-- For servers of the version before.
CREATE OR REPLACE FUNCTION commit_holding_revisions(
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
ALTER FUNCTION commit_holding_revisions(
    json[], text[], text[], text[], text[], text[], text[], bigint[], uuid[], timestamptz[], text[], text[], text[], text[],
    text[], json
) RESET ALL;
