-- beside: 44
--
-- A commit tells the servers that poll, and is refused at an isolation level that would break the chain of the log.

-- Wakes those who listen. A queue that another listener does not empty must not fail commits: they are found by the next poll.
CREATE FUNCTION ring_for_commits() RETURNS void
LANGUAGE sql AS $$
    SELECT pg_notify('pg_apiserver_commits_' || 'commit_order'::regclass::oid, '') WHERE pg_notification_queue_usage() < 0.5
$$;

-- The channel that the server's session is to listen to. The lock is held until the session ends, and is not to be had while a
-- commit is under way: what commits later either rings, or had ended before this returned.
CREATE FUNCTION await_commit_bell() RETURNS text
LANGUAGE sql AS $$
    SELECT pg_advisory_lock_shared('commit_order'::regclass::oid::int, hashtext('pg-apiserver polls'));
    SELECT 'pg_apiserver_commits_' || 'commit_order'::regclass::oid
$$;

-- commit_revisions as before (0051), with these two.
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
    -- Servers that poll hold this lock in share mode as long as they listen. Only they cost a NOTIFY, which makes all that notify on
    -- this PostgreSQL commit one after the other.
    IF last IS NOT NULL AND NOT pg_try_advisory_xact_lock('commit_order'::regclass::oid::int, hashtext('pg-apiserver polls')) THEN
        PERFORM ring_for_commits();
    END IF;
END $$;

COMMENT ON FUNCTION ring_for_commits() IS 'Tells servers that poll, because they may not replicate or get no slot, of a commit.';
COMMENT ON FUNCTION await_commit_bell() IS 'From now on commits notify the channel that this answers, until the session ends.';
