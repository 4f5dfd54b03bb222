-- beside: 44
--
-- Upkeep costs what changes. Filling follows the log from where it ended, where it walked through all objects: with a million of them,
-- 8 GB each ten minutes. And leaving a partition copies nothing while commits wait: with a thousand replacements a second it copied some
-- 250,000 states, for longer than commits wait for a lock.

-- A walk that is under way begins anew: what it has filled is passed over.
ALTER TABLE filling
    DROP COLUMN objects,
    DROP COLUMN passed,
    DROP COLUMN api_group,
    DROP COLUMN resource,
    DROP COLUMN namespace,
    DROP COLUMN name,
    ADD COLUMN passed_to bigint NOT NULL DEFAULT 0,
    ADD COLUMN passed    bigint NOT NULL DEFAULT 0,
    ADD COLUMN filled    bigint NOT NULL DEFAULT 0;
UPDATE filling SET up_to = NULL, due = '{}';
COMMENT ON COLUMN filling.filled_to IS 'All objects that were last written up to this revision have their bytes.';
COMMENT ON COLUMN filling.up_to IS 'The end of the walk along the log that is under way; null between two.';
COMMENT ON COLUMN filling.passed_to IS 'The last revision that this walk has looked at.';
COMMENT ON COLUMN filling.due IS 'The next objects to be filled, by their revisions.';
COMMENT ON COLUMN filling.passed IS 'How many rows of the log all walks have looked at.';
COMMENT ON COLUMN filling.filled IS 'How many objects they have filled.';

-- Up to which revision objects are to be filled now; null while there is nothing worth a walk. Those that were written at least
-- `behind` revisions ago, or longer ago than `older_than`, or lie behind the window, are not expected to be written again soon.
CREATE OR REPLACE FUNCTION fill_up_to(behind bigint, older_than interval) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
    last   filling;
    cut    bigint;
    wanted bigint;
BEGIN
    SELECT f.* INTO STRICT last FROM filling f;
    SELECT c.revision INTO STRICT cut FROM compaction c;
    SELECT greatest(max(r.revision) - behind, revision_at(clock_timestamp() - older_than), cut) INTO wanted FROM revisions r;
    IF wanted > last.filled_to AND (
        wanted - last.filled_to >= behind
        OR last.filled_at <= clock_timestamp() - older_than
        OR EXISTS (SELECT FROM log_partitions() p WHERE p.high - 1 <= cut AND p.high - 1 > last.filled_to)
    ) THEN
        RETURN wanted;
    END IF;
    RETURN NULL;
END $$;

-- One step of bringing objects their bytes: looks at some rows of the log, and notes those that are the last of objects without
-- bytes; or fills what was noted. Returns whether there is 'more' to do of the walk, it is 'done', or there is 'nothing' to do, or
-- another server at it.
--
-- Commits remember where objects lie, so they wait while these are filled. That is kept short: the bytes were read before, there
-- are few of them, and nothing is waited for after. What a crash takes back is done again: a partition that goes later is
-- later in the WAL as well.
CREATE OR REPLACE FUNCTION fill_objects(behind bigint, older_than interval) RETURNS text
LANGUAGE plpgsql
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
-- The order is that of the index, also before there are statistics.
SET enable_sort = off
SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan
SET lock_timeout = '2s'
AS $$
DECLARE
    walk    filling;
    part    record;
    looked  bigint := 0;
    bytes   bigint := 0;
    missing bigint[] := '{}';
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    SELECT f.* INTO walk FROM filling f WHERE f.filled_to IS NOT NULL FOR UPDATE SKIP LOCKED;
    IF walk.filled_to IS NULL THEN
        RETURN 'nothing';
    END IF;

    IF walk.up_to IS NULL THEN
        walk.up_to := fill_up_to(behind, older_than);
        IF walk.up_to IS NULL THEN
            RETURN 'nothing';
        END IF;
        UPDATE filling SET up_to = walk.up_to, passed_to = filled_to, due = '{}';
        RETURN 'more';
    END IF;

    IF walk.due <> '{}' THEN
        LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
        UPDATE objects o
        SET object = r.object, encoded = r.encoded, media_type = r.media_type
        FROM unnest(walk.due) AS d (revision)
        JOIN revisions r ON r.revision = d.revision
        WHERE o.api_group = r.api_group AND o.resource = r.resource AND o.namespace = r.namespace AND o.name = r.name
          AND o.revision = r.revision AND o.object IS NULL AND o.encoded IS NULL;
        GET DIAGNOSTICS looked = ROW_COUNT;
        UPDATE filling SET due = '{}', filled = filled + looked;
        RETURN 'more';
    END IF;

    FOR part IN
        SELECT r.revision, (
            SELECT o.object IS NULL AND o.encoded IS NULL
            FROM objects o
            WHERE o.api_group = r.api_group AND o.resource = r.resource AND o.namespace = r.namespace AND o.name = r.name
              AND o.revision = r.revision
        ) AS is_due
        FROM revisions r
        WHERE r.revision > walk.passed_to AND r.revision <= walk.up_to
        ORDER BY r.revision
        LIMIT 5000
    LOOP
        looked := looked + 1;
        IF part.is_due THEN
            missing := missing || part.revision;
            bytes := bytes + (
                SELECT coalesce(octet_length(r.object::text), octet_length(r.encoded)) FROM revisions r WHERE r.revision = part.revision
            );
            EXIT WHEN cardinality(missing) = 50 OR bytes > 250000;
        END IF;
    END LOOP;
    IF looked = 0 THEN
        UPDATE filling SET filled_to = up_to, filled_at = clock_timestamp(), up_to = NULL;
        RETURN 'done';
    END IF;
    UPDATE filling SET passed = passed + looked, passed_to = part.revision, due = missing;
    RETURN 'more';
END $$;

ALTER TABLE log_bounds ADD COLUMN noted bigint NOT NULL DEFAULT 0;
UPDATE log_bounds SET noted = low, copied = 0;
ALTER TABLE log_bounds DROP COLUMN copied_as_of;
COMMENT ON COLUMN log_bounds.noted IS 'Commits keep what they replace of states below this, as the log is about to lose them.';
COMMENT ON COLUMN log_bounds.copied IS 'Of the partition that is being left: the last state that was kept.';

-- commit_revisions as before (0077), but it keeps what it replaces of a partition that is being left.
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
    -- Servers that poll hold this lock in share mode as long as they listen. Only they cost a NOTIFY, which makes all that notify on
    -- this PostgreSQL commit one after the other.
    IF last IS NOT NULL AND NOT pg_try_advisory_xact_lock('commit_order'::regclass::oid::int, hashtext('pg-apiserver polls')) THEN
        PERFORM ring_for_commits();
    END IF;
END $$;

-- Ends what the oldest partition is asked for, when it lies wholly behind the window and the objects that were last written in it have
-- their bytes. First commits are made to keep what they replace of it; then what was replaced before is kept, some states a call, while
-- commits go on; then the log begins behind it. Returns 'more' until it is 'left', or 'nothing' when there is none to leave.
CREATE OR REPLACE FUNCTION leave_partition() RETURNS text
LANGUAGE plpgsql
SECURITY DEFINER
SET lock_timeout = '2s'
AS $$
DECLARE
    leaving regclass;
    past    bigint;
    bounds  log_bounds;
    batch   record;
BEGIN
    SELECT p.partition, p.high INTO leaving, past
    FROM log_partitions() p
    JOIN log_bounds b ON p.high > b.low
    WHERE p.high - 1 <= (SELECT c.revision FROM compaction c) AND to_regclass('heads') IS NULL
      AND p.high - 1 <= (SELECT coalesce(f.filled_to, p.high) FROM filling f)
    ORDER BY p.high
    LIMIT 1;
    IF leaving IS NULL THEN
        RETURN 'nothing';
    END IF;
    EXECUTE format('LOCK TABLE %s IN SHARE UPDATE EXCLUSIVE MODE', leaving);
    SELECT b.* INTO bounds FROM log_bounds b;
    -- Another server has left it meanwhile; there may be a next one.
    IF bounds.low >= past THEN
        RETURN 'more';
    END IF;
    IF bounds.noted < past THEN
        -- A commit that makes a partition writes the bounds too, and holds this lock.
        LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
        UPDATE log_bounds SET noted = past, copied = 0;
        RETURN 'more';
    END IF;
    SELECT * INTO batch FROM keep_superseded(leaving, past, bounds.copied, 0, 1000);
    IF batch.count = 1000 THEN
        UPDATE log_bounds SET copied = batch.last;
        RETURN 'more';
    END IF;
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    UPDATE log_bounds SET low = past, left_at = clock_timestamp(), copied = 0;
    INSERT INTO left_partitions (high, left_at) VALUES (past, clock_timestamp())
    ON CONFLICT (high) DO UPDATE SET left_at = excluded.left_at;
    RETURN 'left';
END $$;
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION leave_partition() SET search_path = %I, pg_temp', current_schema());
END $$;

-- As before (0002), but the time after an epoch began is that of the epoch, also before its first write: the last write before it is one
-- that nothing can be read as of any more.
CREATE OR REPLACE FUNCTION revision_at(moment timestamptz) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
    cut    compaction;
    low    bigint;
    high   bigint;
    middle bigint;
    probe  record;
BEGIN
    SELECT * INTO STRICT cut FROM compaction;
    IF moment < cut.committed_at THEN
        RETURN NULL;
    END IF;
    -- What is at or below `low` is not too new; what is above `high` is.
    low := cut.revision;
    SELECT coalesce(max(r.revision), low) INTO high FROM revisions r;
    WHILE low < high LOOP
        middle := low + (high - low + 1) / 2;
        SELECT r.revision, r.committed_at INTO probe
        FROM revisions r
        WHERE r.revision > low AND r.revision <= middle
        ORDER BY r.revision DESC
        LIMIT 1;
        IF NOT FOUND OR probe.committed_at <= moment THEN
            low := middle;
        ELSE
            high := probe.revision - 1;
        END IF;
    END LOOP;
    RETURN greatest(
        cut.revision,
        (SELECT max(r.revision) FROM revisions r WHERE r.revision <= low),
        (SELECT max(e.epoch) FROM epochs e WHERE e.began_at <= moment)
    );
END $$;
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION revision_at(timestamptz) SET search_path = %I, pg_temp', current_schema());
END $$;
