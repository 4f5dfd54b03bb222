-- beside: 44
--
-- History behind the window goes at the rate at which it is written. Each partition that the window has left has a time of its own: one
-- time for all of them was set anew by each run that left another, so that under a steady load none was ever old enough to drop.

CREATE TABLE left_partitions (
    high    bigint PRIMARY KEY,
    left_at timestamptz NOT NULL
);
COMMENT ON TABLE left_partitions IS 'The partitions of revisions that nothing asks for any more, by their upper bounds, and since when.';

INSERT INTO left_partitions (high, left_at)
SELECT p.high, least(b.left_at, clock_timestamp()) FROM log_partitions() p JOIN log_bounds b ON p.high <= b.low;

-- As before (0061), but the time is that of the partition. Servers of the version before go on noting the one for all as well.
CREATE OR REPLACE FUNCTION leave_partition() RETURNS text
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
    INSERT INTO left_partitions (high, left_at) VALUES (past, clock_timestamp())
    ON CONFLICT (high) DO UPDATE SET left_at = excluded.left_at;
    RETURN 'left';
END $$;

-- The backends that hold the partition in a transaction, other than servers': what drops it would wait for them, and commits would wait
-- behind what drops it.
CREATE FUNCTION readers_of_partition(leaving regclass) RETURNS integer[]
LANGUAGE sql VOLATILE AS $$
    SELECT coalesce(array_agg(DISTINCT l.pid ORDER BY l.pid), '{}')
    FROM pg_locks l
    JOIN pg_stat_activity a ON a.pid = l.pid AND a.application_name NOT LIKE 'pg-apiserver %'
    WHERE l.locktype = 'relation' AND l.granted AND l.relation = leaving
      AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
      AND l.pid <> pg_backend_pid() AND a.backend_type = 'client backend'
$$;

-- As before (0032), but by the time of each partition, one from the future being given the present; and it asks for the lock only when
-- nothing reads the partition. A reader that forgets to end its transaction keeps the partition, and holds up no commit.
CREATE OR REPLACE FUNCTION drop_partition(left_for interval) RETURNS boolean
LANGUAGE plpgsql
SECURITY DEFINER
SET lock_timeout = '200ms'
AS $$
DECLARE
    leaving regclass;
    past    bigint;
    readers integer[];
BEGIN
    UPDATE left_partitions SET left_at = clock_timestamp() WHERE left_at > clock_timestamp();
    FOR attempt IN 1..2 LOOP
        SELECT p.partition, p.high INTO leaving, past
        FROM log_partitions() p
        JOIN log_bounds b ON p.high <= b.low
        LEFT JOIN left_partitions l ON l.high = p.high
        -- An older server has left those without a time of their own.
        WHERE coalesce(l.left_at, b.left_at) <= clock_timestamp() - left_for
        ORDER BY p.high
        LIMIT 1;
        IF leaving IS NULL THEN
            RETURN false;
        END IF;
        readers := readers_of_partition(leaving);
        IF readers <> '{}' THEN
            RAISE 'partition % is read by the backends %', leaving, readers
                USING ERRCODE = 'lock_not_available', DETAIL = array_to_string(readers, ',');
        END IF;
        -- Another server may have dropped it by the time the lock is there.
        LOCK TABLE revisions IN ACCESS EXCLUSIVE MODE;
    END LOOP;
    EXECUTE format('DROP TABLE %s', leaving);
    DELETE FROM left_partitions WHERE high <= past;
    RETURN true;
END $$;

-- How far history that should be gone lies behind the window: the age of the oldest row beyond it, and the partitions nothing needs.
CREATE FUNCTION retention(OUT behind_s float8, OUT partitions bigint)
LANGUAGE sql STABLE AS $$
    SELECT
        greatest(0, extract(epoch FROM clock_timestamp() - c.history_window - o.committed_at))::float8,
        (SELECT count(*) FROM log_partitions() p WHERE p.high - 1 <= c.revision)
    FROM compaction c
    LEFT JOIN LATERAL (SELECT r.committed_at FROM revisions r ORDER BY r.revision LIMIT 1) o ON true
$$;
COMMENT ON FUNCTION retention() IS 'Seconds that the oldest row of history lies behind the window, and how many partitions do as a whole.';

DO $$
DECLARE
    of regprocedure;
BEGIN
    FOREACH of IN ARRAY ARRAY['leave_partition()', 'drop_partition(interval)']::regprocedure[] LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', of, current_schema());
    END LOOP;
END $$;
