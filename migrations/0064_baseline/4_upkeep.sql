-- Upkeep: history behind the window is cut off, objects get their bytes, and partitions their indexes. Any server may do it.

-- Raises the compacted revision to the end of what is older than the window, but not to the newest revision of all, which is the current
-- one. That is all that readers, watches and views need; what lies below goes when it is a whole partition (drop_partition). Returns
-- whether there is anything new below it.
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
-- looks at what was replaced after `newer_than`. Returns how many there were, at most `at_most`, and the last of them.
--
-- Each state is looked up by itself: a join of the two in the order of the states began anew with the first state of the partition in
-- each batch.
CREATE FUNCTION keep_superseded(leaving regclass, past bigint, copied bigint, newer_than bigint, at_most integer)
RETURNS TABLE (count bigint, last bigint)
LANGUAGE plpgsql AS $$
BEGIN
    -- Bounds are written out: each partition has an index of what replaced a state below its own begin, in the order of the states.
    RETURN QUERY EXECUTE format(
        'WITH batch AS MATERIALIZED (
            SELECT r.previous_revision AS state, r.revision AS superseded_by
            FROM revisions r
            WHERE r.previous_revision < %2$s AND r.previous_revision > %3$s AND r.revision >= %2$s AND r.revision > %4$s
            ORDER BY r.previous_revision
            LIMIT %5$s
        ), kept AS (
            INSERT INTO superseded (
                revision, superseded_by, api_group, resource, namespace, name, uid, object, encoded, media_type, committed_at
            )
            SELECT p.revision, b.superseded_by, p.api_group, p.resource, p.namespace, p.name, p.uid, p.object, p.encoded,
                p.media_type, p.committed_at
            FROM batch b
            CROSS JOIN LATERAL (SELECT * FROM %1$s l WHERE l.revision = b.state LIMIT 1) p
            ON CONFLICT DO NOTHING
        )
        SELECT count(*), max(state) FROM batch',
        leaving, past, greatest(copied, (SELECT b.low - 1 FROM log_bounds b)),
        greatest(newer_than, (SELECT c.revision FROM compaction c)), at_most
    );
END $$;

-- Forgets kept states that are older than the window themselves. Returns how many, at most `at_most`.
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

-- Ends what the oldest partition is asked for, when it lies wholly behind the window and the objects that were last written in it have
-- their bytes: those of its states that the window still needs are kept beside the log, and from now on a commit that replaces
-- another keeps that too. All that was replaced before the copying began is copied in the order of the states, a batch a call;
-- under the lock is copied what was replaced since. Returns whether there is 'more' to do of it, it was 'left', or there is 'nothing'.
--
-- The bounds of the log are not written before the ordering lock is held: a commit that makes a partition writes them too, and holds it.
-- Servers that leave the same partition take turns by a lock on it, which no commit wants.
CREATE FUNCTION leave_partition() RETURNS text
LANGUAGE plpgsql
SECURITY DEFINER
SET lock_timeout = '2s'
AS $$
DECLARE
    leaving regclass;
    past    bigint;
    bounds  log_bounds;
    as_of   bigint;
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
    as_of := coalesce(bounds.copied_as_of, (SELECT max(r.revision) FROM revisions r));
    SELECT * INTO batch FROM keep_superseded(leaving, past, bounds.copied, 0, 1000);
    IF batch.count = 1000 THEN
        UPDATE log_bounds SET copied = batch.last, copied_as_of = as_of;
        RETURN 'more';
    END IF;
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    PERFORM keep_superseded(leaving, past, 0, as_of, 2000000000);
    UPDATE log_bounds SET low = past, left_at = clock_timestamp(), copied_as_of = NULL, copied = 0;
    RETURN 'left';
END $$;

-- Drops a partition, if it was left as long ago as that: a function of SQL that began before looks for states in it. A query that reads
-- the log for longer than the lock is waited for is not disturbed: the partition goes another time.
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

-- Up to which revision objects are to be filled now; null when there is nothing worth a walk through all objects. Those that were
-- written at least `behind` revisions ago, or longer ago than `older_than`, or lie behind the window, are not expected to be written
-- again soon.
--
-- A walk passes each object, so there is none for fewer revisions than there are objects; but one after each `older_than`, and whenever a
-- partition waits for it.
CREATE FUNCTION fill_up_to(behind bigint, older_than interval) RETURNS bigint
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
        wanted - last.filled_to >= greatest(behind, last.objects)
        OR last.filled_at <= clock_timestamp() - older_than
        OR EXISTS (SELECT FROM log_partitions() p WHERE p.high - 1 <= cut AND p.high - 1 > last.filled_to)
    ) THEN
        RETURN wanted;
    END IF;
    RETURN NULL;
END $$;

-- One step of bringing objects their bytes: passes some objects, in the order of their keys, which do not change, and notes those that
-- lack theirs; or fills what was noted. Returns whether there is 'more' to do of the walk, it is 'done', or there is 'nothing' to
-- do, or another server at it.
--
-- Commits remember where objects lie, so they wait while these are filled. That is kept short: the bytes were read before, there are few
-- of them, and nothing is waited for after. What a crash takes back is done again: a partition that goes later is later in the
-- WAL as well.
CREATE FUNCTION fill_objects(behind bigint, older_than interval) RETURNS text
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
    count   bigint := 0;
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
        UPDATE filling
        SET up_to = walk.up_to, passed = 0, api_group = '', resource = '', namespace = '', name = '', due = '{}';
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
        UPDATE filling SET due = '{}';
        RETURN 'more';
    END IF;

    FOR part IN
        SELECT o.api_group, o.resource, o.namespace, o.name, o.revision,
            o.object IS NULL AND o.encoded IS NULL AND o.revision <= walk.up_to AS is_due
        FROM objects o
        WHERE (o.api_group, o.resource, o.namespace, o.name) > (walk.api_group, walk.resource, walk.namespace, walk.name)
        ORDER BY o.api_group, o.resource, o.namespace, o.name
        LIMIT 5000
    LOOP
        count := count + 1;
        IF part.is_due THEN
            missing := missing || part.revision;
            bytes := bytes + (
                SELECT coalesce(octet_length(r.object::text), octet_length(r.encoded)) FROM revisions r WHERE r.revision = part.revision
            );
            EXIT WHEN cardinality(missing) = 50 OR bytes > 250000;
        END IF;
    END LOOP;
    IF count = 0 THEN
        UPDATE filling
        SET filled_to = walk.up_to, filled_at = clock_timestamp(), objects = walk.passed, up_to = NULL;
        RETURN 'done';
    END IF;
    UPDATE filling
    SET passed = walk.passed + count, api_group = part.api_group, resource = part.resource, namespace = part.namespace,
        name = part.name, due = missing;
    RETURN 'more';
END $$;

-- Whether a partition has no index of that kind.
CREATE FUNCTION lacks_index(partition regclass, method name, first_column name) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT NOT EXISTS (
        SELECT FROM pg_index i
        JOIN pg_class c ON c.oid = i.indexrelid
        JOIN pg_am m ON m.oid = c.relam
        JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
        WHERE i.indrelid = partition AND m.amname = method AND a.attname = first_column
    )
$$;

-- The newest partition that lacks an index by request id or by namespace and is written to no more: rows come in the order of their
-- revisions, so there is none on its way to a partition that ends before one that can be seen. What is about to go does not need
-- them any more.
CREATE FUNCTION closed_without_requests() RETURNS regclass
LANGUAGE sql STABLE AS $$
    SELECT p.partition
    FROM log_partitions() p
    WHERE p.high <= (SELECT max(r.revision) FROM revisions r)
      AND p.high - 1 > (SELECT c.revision FROM compaction c)
      AND (lacks_index(p.partition, 'hash', 'request_id') OR lacks_index(p.partition, 'btree', 'namespace'))
    ORDER BY p.high DESC
    LIMIT 1
$$;

-- Makes these indexes. Reads go on meanwhile, and writes to all other partitions. Returns the partition; null when there is none left.
--
-- Commits do not pay for the index by request id: the partition that is written to has a summary of its pages instead. It is a hash, half
-- as large as the ids themselves, because a question is always for the whole id.
CREATE FUNCTION index_requests() RETURNS text
LANGUAGE plpgsql
SECURITY DEFINER
SET lock_timeout = '2s'
AS $$
DECLARE
    closed regclass;
    called text;
BEGIN
    FOR attempt IN 1..2 LOOP
        closed := closed_without_requests();
        IF closed IS NULL THEN
            RETURN NULL;
        END IF;
        -- Another server may have made it by the time the lock is there.
        EXECUTE format('LOCK TABLE %s IN SHARE UPDATE EXCLUSIVE MODE', closed);
    END LOOP;
    SELECT relname INTO called FROM pg_class WHERE oid = closed;
    IF lacks_index(closed, 'btree', 'namespace') THEN
        EXECUTE format('CREATE INDEX %I ON %s (namespace, revision)', called || '_by_namespace', closed);
    END IF;
    IF lacks_index(closed, 'hash', 'request_id') THEN
        EXECUTE format('CREATE INDEX %I ON %s USING hash (request_id)', called || '_by_request', closed);
    END IF;
    RETURN closed::text;
END $$;

COMMENT ON FUNCTION index_requests() IS 'Makes the indexes by request id and by namespace of a partition that is written to no more.';

-- Rows that a clock which ran ahead has dated in the future pin the time of all that follow, and end compaction: they are given the
-- present. Both clocks, the database's and the caller's, must say that they are of the future. Returns how many were corrected, at
-- most `at_most`, and how far ahead the newest one was.
--
-- The oldest of them go first, so that time never runs backwards from one row to the next, whenever this ends.
CREATE FUNCTION correct_clock(callers_clock timestamptz, at_most integer, OUT corrected bigint, OUT log_ahead float8, OUT clock_ahead float8)
LANGUAGE plpgsql
SET lock_timeout = '10s'
AS $$
DECLARE
    present  timestamptz := greatest(clock_timestamp(), callers_clock);
    newest   timestamptz;
    too_late bigint;
BEGIN
    corrected := 0;
    clock_ahead := extract(epoch FROM clock_timestamp() - callers_clock);
    SELECT r.committed_at INTO newest FROM revisions r ORDER BY r.revision DESC LIMIT 1;
    log_ahead := extract(epoch FROM newest - present);
    IF newest IS NULL OR newest <= present + interval '5 minutes' THEN
        RETURN;
    END IF;
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    UPDATE compaction SET committed_at = present WHERE committed_at > present;
    too_late := revision_at(present);
    UPDATE revisions SET committed_at = present
    WHERE revision IN (SELECT r.revision FROM revisions r WHERE r.revision > too_late ORDER BY r.revision LIMIT at_most);
    GET DIAGNOSTICS corrected = ROW_COUNT;
END $$;

-- What changes tables does so as their owner, for servers that have no such right, and finds no table of the caller's making.
DO $$
DECLARE
    of text;
BEGIN
    FOREACH of IN ARRAY ARRAY['leave_partition()', 'drop_partition(interval)', 'index_requests()'] LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', of, current_schema());
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', of);
    END LOOP;
END $$;
