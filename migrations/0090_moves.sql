-- beside: 44
--
-- A resource can be given a database of its own while servers serve: src/storage/postgres/moving/move.ts says how.

-- Resources that are being moved into another database, or were. In the database that they leave.
CREATE TABLE moves (
    move         uuid        PRIMARY KEY,
    api_group    text        COLLATE "C" NOT NULL,
    resource     text        COLLATE "C" NOT NULL,
    target       text        NOT NULL,
    began_at     timestamptz NOT NULL DEFAULT now(),
    -- Writes of the resource are refused until then, and the newest revision was this when that began.
    closed_until timestamptz,
    closed_at    bigint,
    moved_at     bigint,
    UNIQUE (api_group, resource)
);
REVOKE ALL ON moves FROM PUBLIC;
COMMENT ON TABLE moves IS 'Resources that have a database of their own since the revision moved_at, or are being copied into one.';
COMMENT ON COLUMN moves.target IS 'Its URLs, separated by commas; where Secrets are encrypted, encrypted as they are.';

-- What each server makes of a move. A server that knows nothing of moves has no row here.
CREATE TABLE move_servers (
    move    uuid    NOT NULL REFERENCES moves ON DELETE CASCADE,
    server  uuid    NOT NULL,
    trouble text    NOT NULL,
    moved   boolean NOT NULL,
    PRIMARY KEY (move, server)
);
COMMENT ON COLUMN move_servers.trouble IS 'Why the server cannot use the database of the resource; empty when it can.';

-- In the database of a resource that was moved: which move brought it. One row.
CREATE TABLE arrival (
    only_row   boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    move       uuid    NOT NULL,
    api_group  text    COLLATE "C" NOT NULL,
    resource   text    COLLATE "C" NOT NULL,
    -- Rises when the copy begins anew: what servers have read of it before is void.
    attempt    integer NOT NULL DEFAULT 1,
    -- All that was there at this revision is here; null while it is being copied.
    copied_to  bigint,
    arrived_at bigint
);
COMMENT ON TABLE arrival IS 'The move that brought the resource of this database. Until arrived_at is set, the resource is served from elsewhere.';

ALTER TABLE log_bounds ADD COLUMN closed text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN log_bounds.closed IS 'Names of resources for which commits look into the table moves.';

-- Which of some writes are of a resource that has left, or is about to.
CREATE FUNCTION writes_moved(api_groups text[], resources text[]) RETURNS integer[]
LANGUAGE sql STABLE AS $$
    SELECT coalesce(array_agg(w.i::integer), '{}')
    FROM unnest(api_groups, resources) WITH ORDINALITY AS w (api_group, resource, i)
    JOIN moves m ON m.api_group = w.api_group AND m.resource = w.resource
    WHERE m.moved_at IS NOT NULL OR m.closed_until > clock_timestamp()
$$;

-- commit_revisions as before (0083), but what belongs to another database is refused: its live revision is then -1.
CREATE OR REPLACE FUNCTION commit_revisions(
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
    moved       integer[];
    of          integer;
    -- Where each object lies. It stays there until the end: all who write objects hold the lock, and what rewrites the whole
    -- table waits for our transaction.
    places      tid[];
    last        bigint;
    oldest      bigint;
BEGIN
    -- At any other level all statements have the snapshot of the first, which is from before the lock.
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE 'commits need the isolation level read committed, and this one is at %', current_setting('transaction_isolation')
            USING ERRCODE = 'invalid_transaction_state', HINT = 'Set default_transaction_isolation to read committed for the role.';
    END IF;
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

    SELECT b.* INTO bounds FROM log_bounds b;
    IF resources && bounds.closed THEN
        moved := writes_moved(api_groups, resources);
        FOREACH of IN ARRAY moved LOOP
            -- No object ever is at this revision.
            expected[of] := -1;
        END LOOP;
    END IF;

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

    IF last >= bounds.high THEN
        PERFORM make_partition(last);
    END IF;
    -- States are overwritten below that the log no longer has, or is about to lose.
    IF oldest < bounds.noted THEN
        INSERT INTO superseded (
            revision, superseded_by, api_group, resource, namespace, name, uid, object, encoded, media_type, committed_at
        )
        SELECT o.revision, accepted[i], o.api_group, o.resource, o.namespace, o.name, o.uid, o.object, o.encoded, o.media_type,
            o.modified_at
        FROM generate_series(1, cardinality(names)) AS i
        JOIN objects o ON o.ctid = places[i]
        WHERE accepted[i] IS NOT NULL AND live[i] < bounds.noted
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
    IF moved IS NOT NULL THEN
        FOREACH of IN ARRAY moved LOOP
            live[of] := -1;
        END LOOP;
    END IF;
    -- Servers that poll hold this lock in share mode as long as they listen. Only they cost a NOTIFY, which makes all that notify on
    -- this PostgreSQL commit one after the other.
    IF last IS NOT NULL AND NOT pg_try_advisory_xact_lock('commit_order'::regclass::oid::int, hashtext('pg-apiserver polls')) THEN
        PERFORM ring_for_commits();
    END IF;
END $$;

-- Writes the object by which servers learn of a move, in the order of the log. Returns its revision.
CREATE FUNCTION tell_of_move(the_move uuid, of_group text, of_resource text, phase text) RETURNS bigint
LANGUAGE plpgsql
SET lock_timeout = '10s'
AS $$
DECLARE
    called  text := of_resource || CASE WHEN of_group = '' THEN '' ELSE '.' || of_group END;
    present bigint;
    told    bigint[];
BEGIN
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    SELECT o.revision INTO present
    FROM objects o
    WHERE o.api_group = 'storage.cluster.io' AND o.resource = 'moves' AND o.namespace = '' AND o.name = called;
    SELECT c.accepted INTO told
    FROM commit_revisions(
        ARRAY[format(
            '{"kind":"Move","apiVersion":"storage.cluster.io/v1","metadata":{"name":%s,"uid":%s},"spec":{"group":%s,"resource":%s},"status":{"phase":%s}}',
            to_json(called), to_json(the_move::text), to_json(of_group), to_json(of_resource), to_json(phase)
        )::json],
        ARRAY[CASE WHEN present IS NULL THEN 'create' ELSE 'update' END],
        ARRAY['storage.cluster.io'], ARRAY['moves'], ARRAY[''], ARRAY[called], ARRAY[the_move::text], ARRAY[coalesce(present, 0)],
        ARRAY[gen_random_uuid()], ARRAY[NULL::timestamptz], ARRAY[session_user::text], ARRAY['pg-apiserver'], ARRAY[''], ARRAY[''],
        ARRAY['move'], NULL, NULL, NULL, NULL::bytea[], NULL::text[]
    ) c;
    RETURN told[1];
END $$;

-- Begins a move, or goes on with the one that is under way. Returns it.
CREATE FUNCTION begin_move(of_group text, of_resource text, to_target text) RETURNS moves
LANGUAGE plpgsql
SET lock_timeout = '10s'
AS $$
DECLARE
    present moves;
BEGIN
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    PERFORM assure_durability();
    SELECT m.* INTO present FROM moves m WHERE m.api_group = of_group AND m.resource = of_resource;
    IF NOT FOUND THEN
        INSERT INTO moves (move, api_group, resource, target) VALUES (gen_random_uuid(), of_group, of_resource, to_target)
        RETURNING * INTO present;
        PERFORM tell_of_move(present.move, of_group, of_resource, 'Copying');
    END IF;
    RETURN present;
END $$;

-- Refuses writes of the resource from now on, but not for longer than that. Returns the newest revision.
CREATE FUNCTION close_for_move(the_move uuid, for_ms integer) RETURNS bigint
LANGUAGE plpgsql
SECURITY DEFINER
SET lock_timeout = '10s'
AS $$
DECLARE
    newest bigint;
BEGIN
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    PERFORM assure_durability();
    SELECT max(r.revision) INTO STRICT newest FROM revisions r;
    UPDATE moves SET closed_until = clock_timestamp() + for_ms * interval '1 ms', closed_at = newest
    WHERE move = the_move AND moved_at IS NULL;
    UPDATE log_bounds b SET closed = b.closed || m.resource
    FROM moves m
    WHERE m.move = the_move AND m.resource <> ALL (b.closed);
    RETURN newest;
END $$;

-- Ends the move: from this revision on, the resource is in its own database. Null when writes were no longer refused, and the copy
-- may lack some.
CREATE FUNCTION cut_over(the_move uuid) RETURNS bigint
LANGUAGE plpgsql
SET lock_timeout = '10s'
AS $$
DECLARE
    present moves;
    cut     bigint;
BEGIN
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    PERFORM assure_durability();
    SELECT m.* INTO STRICT present FROM moves m WHERE m.move = the_move;
    IF present.moved_at IS NOT NULL THEN
        RETURN present.moved_at;
    END IF;
    -- The clock of another primary may differ, so the log has the last word.
    IF present.closed_until IS NULL OR present.closed_until <= clock_timestamp() OR EXISTS (
        SELECT FROM revisions r
        WHERE r.api_group = present.api_group AND r.resource = present.resource AND r.revision > present.closed_at
    ) THEN
        RETURN NULL;
    END IF;
    cut := tell_of_move(the_move, present.api_group, present.resource, 'Moved');
    UPDATE moves SET moved_at = cut WHERE move = the_move;
    RETURN cut;
END $$;

-- Gives up a move that has not ended. Returns whether there was one.
CREATE FUNCTION cancel_move(the_move uuid) RETURNS boolean
LANGUAGE plpgsql
SECURITY DEFINER
SET lock_timeout = '10s'
AS $$
DECLARE
    given_up moves;
BEGIN
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    PERFORM assure_durability();
    DELETE FROM moves m WHERE m.move = the_move AND m.moved_at IS NULL RETURNING m.* INTO given_up;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE log_bounds SET closed = array_remove(closed, given_up.resource)
    WHERE given_up.resource NOT IN (SELECT m.resource FROM moves m);
    PERFORM tell_of_move(the_move, given_up.api_group, given_up.resource, 'Cancelled');
    RETURN true;
END $$;

-- Rows of the log of one resource as JSON, in their order.
CREATE FUNCTION revisions_to_move(of_group text, of_resource text, after bigint, at_most integer)
RETURNS TABLE ("row" text, namespace text, name text, revision bigint)
LANGUAGE plpgsql STABLE
-- The order is that of an index, which a page of a long log must not be sorted for.
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_sort = off
SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
    RETURN QUERY
    SELECT row_to_json(r)::text, r.namespace, r.name, r.revision
    FROM revisions r
    WHERE r.api_group = of_group AND r.resource = of_resource AND r.revision > after
    ORDER BY r.revision
    LIMIT at_most;
END $$;

-- Removes what a moved resource has left behind, but not its history, which goes with the window. Returns how many objects, at most
-- `at_most`. Commits remember where objects lie, and wait meanwhile.
CREATE FUNCTION forget_moved(the_move uuid, at_most integer) RETURNS bigint
LANGUAGE plpgsql
SET enable_seqscan = off
SET enable_bitmapscan = off
SET lock_timeout = '10s'
AS $$
DECLARE
    present   moves;
    forgotten bigint;
BEGIN
    SELECT m.* INTO STRICT present FROM moves m WHERE m.move = the_move AND m.moved_at IS NOT NULL;
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    DELETE FROM objects WHERE ctid = ANY (ARRAY(
        SELECT o.ctid FROM objects o
        WHERE o.api_group = present.api_group AND o.resource = present.resource
        LIMIT at_most
    ));
    GET DIAGNOSTICS forgotten = ROW_COUNT;
    RETURN forgotten;
END $$;

-- A server says whether it can use the database of a resource, and whether it does.
CREATE FUNCTION report_move(the_move uuid, of_server uuid, its_trouble text, has_moved boolean) RETURNS void
LANGUAGE sql AS $$
    INSERT INTO move_servers (move, server, trouble, moved)
    SELECT m.move, of_server, its_trouble, has_moved FROM moves m WHERE m.move = the_move
    ON CONFLICT (move, server) DO UPDATE SET trouble = excluded.trouble, moved = excluded.moved
$$;

-- What the servers that live make of a move. The trouble of one that has not reported is null.
CREATE FUNCTION servers_of_move(the_move uuid) RETURNS TABLE (server uuid, trouble text, moved boolean)
LANGUAGE sql STABLE AS $$
    SELECT w.server, s.trouble, coalesce(s.moved, false)
    FROM witnesses w
    LEFT JOIN move_servers s ON s.move = the_move AND s.server = w.server
    WHERE w.renewed_at > clock_timestamp() - interval '15 seconds'
    ORDER BY w.server
$$;

-- In the database of the resource: makes it ready for a copy, which begins anew. `left_at` is the row of compaction in the database that
-- the resource leaves, `from_revision` where the log begins there, and `up_to` its newest revision.
CREATE FUNCTION begin_arrival(the_move uuid, of_group text, of_resource text, left_at json, from_revision bigint, up_to bigint) RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET lock_timeout = '10s'
AS $$
DECLARE
    present arrival;
    old     regclass;
BEGIN
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    SELECT a.* INTO present FROM arrival a;
    IF present.move <> the_move OR present.arrived_at IS NOT NULL OR present.move IS NULL AND (
        EXISTS (SELECT FROM revisions) OR EXISTS (SELECT FROM objects)
    ) THEN
        RAISE 'there are objects in this database already' USING HINT = 'A resource that is moved needs an empty database of its own.';
    END IF;
    TRUNCATE revisions, objects, superseded, left_partitions;
    FOR old IN SELECT p.partition FROM log_partitions() p LOOP
        EXECUTE format('DROP TABLE %s', old);
    END LOOP;
    UPDATE log_bounds
    SET low = from_revision, high = greatest(from_revision, 1), left_at = clock_timestamp(), noted = from_revision, copied = 0;
    PERFORM make_partition(up_to);
    UPDATE compaction c
    SET revision = k.revision, committed_at = k.committed_at, history_window = k.history_window, shorter = k.shorter,
        thinned = k.thinned, thins = k.thins
    FROM json_populate_record(NULL::compaction, begin_arrival.left_at) k;
    UPDATE filling SET filled_to = greatest(from_revision - 1, 0), up_to = NULL, passed_to = 0, due = '{}';
    INSERT INTO arrival (move, api_group, resource) VALUES (the_move, of_group, of_resource)
    ON CONFLICT (only_row) DO UPDATE SET copied_to = NULL, attempt = arrival.attempt + 1;
END $$;

-- Raises unless the copy of that move is under way here.
CREATE FUNCTION assert_arriving(the_move uuid) RETURNS void
LANGUAGE plpgsql
SET lock_timeout = '10s'
AS $$
BEGIN
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    IF NOT EXISTS (SELECT FROM arrival a WHERE a.move = the_move AND a.arrived_at IS NULL) THEN
        RAISE 'the move % is not under way here', the_move;
    END IF;
END $$;

-- Takes objects whose rows the log no longer has, as rows of the table objects.
CREATE FUNCTION take_objects(the_move uuid, given json) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM assert_arriving(the_move);
    INSERT INTO objects SELECT * FROM json_populate_recordset(NULL::objects, given);
END $$;

-- Takes states that the log no longer has, as rows of the table superseded.
CREATE FUNCTION take_superseded(the_move uuid, given json) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM assert_arriving(the_move);
    INSERT INTO superseded SELECT * FROM json_populate_recordset(NULL::superseded, given);
END $$;

-- Takes rows of the log in their order, with their revisions, the last of which is given too, and makes objects what these rows say.
-- Rows that are here already are passed over.
CREATE FUNCTION take_revisions(the_move uuid, given json, last bigint) RETURNS void
LANGUAGE plpgsql
-- There are no statistics of what is being filled.
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
DECLARE
    bounds log_bounds;
    newest bigint;
BEGIN
    PERFORM assert_arriving(the_move);
    SELECT b.* INTO bounds FROM log_bounds b;
    SELECT coalesce(max(r.revision), 0) INTO newest FROM revisions r;
    IF last <= newest THEN
        RETURN;
    END IF;
    IF last >= bounds.high THEN
        PERFORM make_partition(last);
    END IF;

    INSERT INTO revisions (
        revision, api_group, resource, namespace, name, uid, verb, previous_revision, object, encoded, media_type, committed_at,
        write_id, expires_at, username, user_agent, source_address, request_id, field_manager, follows_revision
    )
    SELECT
        g.revision, g.api_group, g.resource, g.namespace, g.name, g.uid, g.verb, g.previous_revision, g.object, g.encoded,
        g.media_type, g.committed_at, g.write_id, g.expires_at, g.username, g.user_agent, g.source_address, g.request_id,
        g.field_manager, lag(g.revision, 1, newest) OVER (ORDER BY g.revision)
    FROM json_populate_recordset(NULL::revisions, given) g
    WHERE g.revision > newest;

    INSERT INTO superseded (
        revision, superseded_by, api_group, resource, namespace, name, uid, object, encoded, media_type, committed_at
    )
    SELECT o.revision, r.revision, o.api_group, o.resource, o.namespace, o.name, o.uid, o.object, o.encoded, o.media_type,
        o.modified_at
    FROM revisions r
    CROSS JOIN LATERAL (
        SELECT * FROM objects p
        WHERE p.api_group = r.api_group AND p.resource = r.resource AND p.namespace = r.namespace AND p.name = r.name
        LIMIT 1
    ) o
    WHERE r.revision > newest AND r.previous_revision < bounds.noted AND r.previous_revision = o.revision
    ON CONFLICT DO NOTHING;

    WITH latest AS MATERIALIZED (
        SELECT DISTINCT ON (r.api_group, r.resource, r.namespace, r.name)
            r.api_group, r.resource, r.namespace, r.name, r.uid, r.verb, r.revision, r.expires_at, r.committed_at
        FROM revisions r
        WHERE r.revision > newest
        ORDER BY r.api_group, r.resource, r.namespace, r.name, r.revision DESC
    ), gone AS (
        DELETE FROM objects o
        USING latest l
        WHERE l.verb = 'delete' AND o.api_group = l.api_group AND o.resource = l.resource AND o.namespace = l.namespace AND o.name = l.name
    )
    INSERT INTO objects AS o (api_group, resource, namespace, name, revision, uid, expires_at, modified_at)
    SELECT l.api_group, l.resource, l.namespace, l.name, l.revision, l.uid, l.expires_at, l.committed_at
    FROM latest l
    WHERE l.verb <> 'delete'
    ON CONFLICT (api_group, resource, namespace, name) DO UPDATE
    SET revision = excluded.revision, uid = excluded.uid, expires_at = excluded.expires_at, modified_at = excluded.modified_at,
        object = NULL, encoded = NULL, media_type = NULL;
END $$;

-- Notes that all is here which was there at a revision.
CREATE FUNCTION note_copied(the_move uuid, up_to bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM assert_arriving(the_move);
    UPDATE arrival SET copied_to = up_to;
END $$;

-- The resource is served from here, from the revision of the cut-over on. May be called by each server, and again. Returns which attempt
-- at the copy this is.
CREATE FUNCTION arrive(the_move uuid, cut bigint) RETURNS integer
LANGUAGE plpgsql
SET lock_timeout = '10s'
AS $$
DECLARE
    present arrival;
BEGIN
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    PERFORM assure_durability();
    SELECT a.* INTO present FROM arrival a;
    IF present.move IS DISTINCT FROM the_move OR present.copied_to IS NULL THEN
        RAISE 'the move % has not led here', the_move;
    END IF;
    IF present.arrived_at IS NULL THEN
        -- The revision of the row below: what clients know of the resource is no newer, and what is written here is.
        PERFORM setval('revisions_revision_seq', cut - 1);
        PERFORM tell_of_move(the_move, present.api_group, present.resource, 'Arrived');
        UPDATE arrival SET arrived_at = cut;
    END IF;
    RETURN present.attempt;
END $$;

-- A digest of the live objects of a resource: their number, and the sum of their revisions.
CREATE FUNCTION digest_of(of_group text, of_resource text) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT count(*) || ' objects, ' || coalesce(sum(o.revision), 0)
    FROM objects o
    WHERE o.api_group = of_group AND o.resource = of_resource
$$;

DO $$
DECLARE
    of text;
BEGIN
    FOREACH of IN ARRAY ARRAY[
        'close_for_move(uuid, integer)', 'cancel_move(uuid)', 'begin_arrival(uuid, text, text, json, bigint, bigint)'
    ] LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', of, current_schema());
    END LOOP;
END $$;

-- As before (0086), with the rights that moves take.
CREATE OR REPLACE FUNCTION grant_server(to_role name) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    here name := (SELECT relnamespace::regnamespace FROM pg_class WHERE oid = 'revisions'::regclass);
    of   record;
BEGIN
    IF NOT has_schema_privilege(to_role, here, 'USAGE') THEN
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', here, to_role);
    END IF;
    FOR of IN
        SELECT g.rights
        FROM (VALUES
            -- The right to lock it; there are no rows.
            ('UPDATE ON commit_order'),
            -- Rows that a clock has dated in the future are given the present.
            ('SELECT, INSERT, UPDATE (committed_at) ON revisions'),
            -- A new epoch moves it.
            ('USAGE, SELECT, UPDATE ON SEQUENCE revisions_revision_seq'),
            ('SELECT, INSERT, UPDATE, DELETE ON objects'),
            ('SELECT, UPDATE ON filling'),
            ('SELECT, INSERT, DELETE ON superseded'),
            ('SELECT, INSERT, DELETE ON allocations'),
            ('SELECT, UPDATE ON compaction'),
            -- A timeline on which nothing was lost goes on with the epoch.
            ('SELECT, INSERT, UPDATE (timeline) ON epochs'),
            ('SELECT, UPDATE ON history_place'),
            ('SELECT, INSERT, UPDATE, DELETE ON witnesses'),
            ('SELECT ON log_bounds'),
            ('SELECT ON schema_migrations'),
            ('SELECT, INSERT, UPDATE, DELETE ON server_leases'),
            ('SELECT, INSERT, UPDATE, DELETE ON peers'),
            ('SELECT, INSERT, UPDATE ON work_leases'),
            ('SELECT, INSERT, UPDATE ON cluster_keys'),
            ('SELECT, INSERT, UPDATE (private_key), DELETE ON signing_keys'),
            ('SELECT, INSERT, UPDATE, DELETE ON moves'),
            ('SELECT, INSERT, UPDATE ON move_servers'),
            ('SELECT, UPDATE ON arrival'),
            ('EXECUTE ON FUNCTION make_partition(bigint)'),
            ('EXECUTE ON FUNCTION leave_partition()'),
            ('EXECUTE ON FUNCTION drop_partition(interval)'),
            ('SELECT ON thinning'),
            ('EXECUTE ON FUNCTION thin_partition()'),
            ('EXECUTE ON FUNCTION put_custom_resource_view(text, text, json, text)'),
            ('EXECUTE ON FUNCTION drop_custom_resource_view(text, text)'),
            ('EXECUTE ON FUNCTION index_requests()'),
            ('EXECUTE ON FUNCTION close_for_move(uuid, integer)'),
            ('EXECUTE ON FUNCTION cancel_move(uuid)'),
            ('EXECUTE ON FUNCTION begin_arrival(uuid, text, text, json, bigint, bigint)')
        ) g (rights)
        UNION ALL
        SELECT format('EXECUTE ON FUNCTION %s', f.function) FROM functions_of_owner() f WHERE NOT f.is_definer
    LOOP
        EXECUTE format('GRANT %s TO %I', of.rights, to_role);
    END LOOP;
    RETURN format('%s may serve', to_role);
END $$;
