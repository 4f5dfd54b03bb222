-- beside: 34
--
-- As before (0042), but the bounds of the log are not written before the ordering lock is held: a commit that makes a partition
-- writes them too, and holds it. Servers that leave the same partition take turns by a lock on it, which no commit wants.
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
    RETURN 'left';
END $$;
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION leave_partition() SET search_path = %I, pg_temp', current_schema());
END $$;
