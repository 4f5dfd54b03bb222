-- beside: 22
--
-- Everything that reads and writes the log does so as it is shaped now.

-- commit_revisions as before (0020), of a log in partitions, with the states beside it. What the caller has seen is in one of the
-- last partitions, so those before it are not looked at. A partition that is missing, because none was made ahead in time, is
-- made here.
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
        INSERT INTO objects (api_group, resource, namespace, name, revision, uid, expires_at, object, modified_at)
        SELECT api_groups[i], resources[i], namespaces[i], names[i], accepted[i], uids[i], expiries[i], objects[i], moment
        FROM generate_series(1, cardinality(names)) AS i
        WHERE accepted[i] IS NOT NULL AND places[i] IS NULL AND verbs[i] <> 'delete';
    END IF;
    IF 0 < ANY (expected) THEN
        UPDATE objects h
        SET revision = accepted[i], uid = uids[i], expires_at = expiries[i], object = objects[i], encoded = NULL,
            media_type = NULL, modified_at = moment
        FROM generate_series(1, cardinality(names)) AS i
        WHERE h.ctid = places[i] AND accepted[i] IS NOT NULL AND verbs[i] <> 'delete';
    END IF;
    IF 'delete' = ANY (verbs) THEN
        DELETE FROM objects h
        USING generate_series(1, cardinality(names)) AS i
        WHERE h.ctid = places[i] AND accepted[i] IS NOT NULL AND verbs[i] = 'delete';
    END IF;
END $$;

CREATE OR REPLACE FUNCTION keep_epoch(seen bigint, seen_write uuid) RETURNS bigint
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

CREATE OR REPLACE FUNCTION repair_allocations(of_group text, of_resource text, holders json)
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

-- The state of one object at a revision: where it has not changed since, it is among the objects; else in the log, or kept beside it.
CREATE OR REPLACE FUNCTION object_at(of_group text, of_resource text, of_namespace text, of_name text, at bigint) RETURNS json
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN s.verb = 'delete' THEN NULL ELSE s.object END
    FROM (
        (
            SELECT r.revision, r.verb, r.object
            FROM revisions r
            WHERE r.api_group = of_group AND r.resource = of_resource AND r.namespace = of_namespace AND r.name = of_name
              AND r.revision <= (SELECT assert_in_history(at))
            ORDER BY r.revision DESC
            LIMIT 1
        )
        UNION ALL
        SELECT p.revision, 'update', p.object
        FROM superseded p
        WHERE p.api_group = of_group AND p.resource = of_resource AND p.namespace = of_namespace AND p.name = of_name
          AND p.revision <= (SELECT assert_in_history(at)) AND p.superseded_by > at
        UNION ALL
        SELECT o.revision, 'update', o.object
        FROM objects o
        WHERE o.api_group = of_group AND o.resource = of_resource AND o.namespace = of_namespace AND o.name = of_name
          AND o.revision <= (SELECT assert_in_history(at))
    ) s
    ORDER BY s.revision DESC
    LIMIT 1
$$;

-- What has not changed since, and what the first change since has replaced.
CREATE OR REPLACE FUNCTION cluster_at(at bigint)
RETURNS TABLE (api_group text, resource text, namespace text, name text, uid text, revision bigint, object json)
LANGUAGE sql STABLE AS $$
    SELECT o.api_group, o.resource, o.namespace, o.name, o.uid, o.revision, o.object
    FROM objects o
    WHERE o.revision <= (SELECT assert_in_history(at))
    UNION ALL
    SELECT r.api_group, r.resource, r.namespace, r.name, p.uid, p.revision, p.object
    FROM revisions r
    JOIN revisions p ON p.revision = r.previous_revision
    WHERE r.revision > (SELECT assert_in_history(at)) AND r.previous_revision <= at
      AND p.revision >= (SELECT b.low FROM log_bounds b)
    UNION ALL
    SELECT p.api_group, p.resource, p.namespace, p.name, p.uid, p.revision, p.object
    FROM superseded p
    WHERE p.superseded_by > (SELECT assert_in_history(at)) AND p.revision <= at
      AND p.revision < (SELECT b.low FROM log_bounds b)
$$;

-- Raises the compacted revision to the end of what is older than the window, but not to the newest revision of all, which is the
-- current one. That is all that readers, watches and views need; what lies below goes when it is a whole partition
-- (drop_oldest_partition). Answers whether there is anything new below it.
CREATE FUNCTION compact_history() RETURNS boolean
LANGUAGE sql AS $$
    WITH cut AS (
        -- Another server that is at it has its turn.
        SELECT revision_at(clock_timestamp() - held.history_window) AS up_to
        FROM (SELECT c.history_window FROM compaction c FOR UPDATE SKIP LOCKED) held
    ), target AS (
        SELECT r.revision, r.committed_at
        FROM revisions r
        WHERE r.revision <= (SELECT up_to FROM cut) AND r.revision < (SELECT max(n.revision) FROM revisions n)
        ORDER BY r.revision DESC
        LIMIT 1
    ), raised AS (
        UPDATE compaction c
        SET revision = t.revision, committed_at = t.committed_at, compacted_at = clock_timestamp()
        FROM target t
        WHERE c.revision < t.revision
        RETURNING true
    )
    SELECT EXISTS (SELECT FROM raised)
$$;

-- Keeps the states of a partition that the window still needs: those that were replaced in it. Goes on after the state `copied`, and
-- looks at what was replaced after `newer_than`. Answers how many there were, at most `at_most`, and the last of them.
CREATE FUNCTION keep_superseded(leaving regclass, past bigint, copied bigint, newer_than bigint, at_most integer)
RETURNS TABLE (count bigint, last bigint)
LANGUAGE plpgsql AS $$
BEGIN
    -- Bounds are written out: each partition has an index of what replaced a state below its own begin, in the order of the states.
    RETURN QUERY EXECUTE format(
        'WITH batch AS (
            SELECT p.revision, r.revision AS superseded_by, p.api_group, p.resource, p.namespace, p.name, p.uid, p.object,
                p.encoded, p.media_type, p.committed_at
            FROM revisions r
            JOIN %1$s p ON p.revision = r.previous_revision
            WHERE r.previous_revision < %2$s AND r.previous_revision > %3$s AND r.revision >= %2$s AND r.revision > %4$s
            ORDER BY r.previous_revision
            LIMIT %5$s
        ), kept AS (
            INSERT INTO superseded (
                revision, superseded_by, api_group, resource, namespace, name, uid, object, encoded, media_type, committed_at
            )
            SELECT * FROM batch
            ON CONFLICT DO NOTHING
        )
        SELECT count(*), max(revision) FROM batch',
        leaving, past, copied, greatest(newer_than, (SELECT c.revision FROM compaction c)), at_most
    );
END $$;

-- Forgets kept states that are older than the window themselves. Answers how many, at most `at_most`.
CREATE FUNCTION forget_superseded(at_most integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    forgotten bigint;
BEGIN
    DELETE FROM superseded
    WHERE revision IN (
        SELECT s.revision FROM superseded s
        WHERE s.superseded_by <= (SELECT c.revision FROM compaction c)
        ORDER BY s.superseded_by
        LIMIT at_most
    );
    GET DIAGNOSTICS forgotten = ROW_COUNT;
    RETURN forgotten;
END $$;

-- Ends what the oldest partition is asked for, when it lies wholly behind the window: those of its states that the window still
-- needs are kept beside the log, and from now on a commit that replaces another keeps that too. All that was replaced before the
-- copying began is copied in the order of the states, a batch a call; under the lock is copied what was replaced since. Answers
-- whether there is 'more' to do of it, it was 'left', or there is 'nothing'.
--
-- Nothing goes while there may be servers of the version before, which look for live objects in the log.
CREATE FUNCTION leave_partition() RETURNS text
LANGUAGE plpgsql
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
    ORDER BY p.high
    LIMIT 1;
    IF leaving IS NULL THEN
        RETURN 'nothing';
    END IF;
    UPDATE log_bounds SET copied_as_of = (SELECT max(r.revision) FROM revisions r) WHERE copied_as_of IS NULL;
    SELECT b.* INTO bounds FROM log_bounds b;
    SELECT * INTO batch FROM keep_superseded(leaving, past, bounds.copied, 0, 1000);
    IF batch.count = 1000 THEN
        UPDATE log_bounds SET copied = greatest(copied, batch.last) WHERE low < past;
        RETURN 'more';
    END IF;
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    -- Another server may have left it by the time the lock is there.
    PERFORM keep_superseded(leaving, past, 0, b.copied_as_of, 2000000000) FROM log_bounds b WHERE b.low < past;
    UPDATE log_bounds SET low = past, left_at = clock_timestamp(), copied_as_of = NULL, copied = 0 WHERE low < past;
    RETURN 'left';
END $$;

-- Drops a partition, if it was left as long ago as that: a function of SQL that began before looks for states in it. A query that
-- reads the log for longer than the lock is waited for is not disturbed: the partition goes another time.
CREATE FUNCTION drop_partition(left_for interval) RETURNS boolean
LANGUAGE plpgsql
SECURITY DEFINER
SET lock_timeout = '200ms'
AS $$
DECLARE
    leaving regclass;
BEGIN
    FOR attempt IN 1..2 LOOP
        SELECT p.partition INTO leaving
        FROM log_partitions() p
        JOIN log_bounds b ON p.high <= b.low AND b.left_at <= clock_timestamp() - left_for
        ORDER BY p.high
        LIMIT 1;
        IF leaving IS NULL THEN
            RETURN false;
        END IF;
        -- Another server may have dropped it by the time the lock is there.
        LOCK TABLE revisions IN ACCESS EXCLUSIVE MODE;
    END LOOP;
    EXECUTE format('DROP TABLE %s', leaving);
    RETURN true;
END $$;

-- What changes tables does so as their owner, for servers that have no such right; and finds no table of the caller's making.
DO $$
DECLARE
    of regprocedure;
BEGIN
    FOREACH of IN ARRAY ARRAY['make_partition(bigint)', 'drop_partition(interval)']::regprocedure[] LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', of, current_schema());
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', of);
    END LOOP;
END $$;
