-- beside: 44
--
-- One server at a time leaves a partition, or thins one. Steps of a second server would fall into the pauses in which commits have the
-- database to themselves (leaver.ts), and a step that waits for a lock is one too many. Both locks are of tables: an advisory lock, which
-- thinning took until now, is one that every user of the database may take and keep, and then nothing is ever thinned.

-- Ends what the oldest partition is asked for, when it lies wholly behind the window and the objects that were last written in it have
-- their bytes. First commits are made to keep what they replace of it; then what was replaced before is kept, some states a call, while
-- commits go on; then the log begins behind it. Returns 'more' until it is 'left', or 'nothing' when there is none to leave, or another
-- server or a vacuum is at it.
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
    BEGIN
        EXECUTE format('LOCK TABLE %s IN SHARE UPDATE EXCLUSIVE MODE NOWAIT', leaving);
    EXCEPTION WHEN lock_not_available THEN
        RETURN 'nothing';
    END;
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
    SELECT * INTO batch FROM keep_superseded(leaving, past, bounds.copied, 0, 250);
    IF batch.count = 250 THEN
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

-- One step of removing the old rows of resources with a shorter history from a partition. Returns whether the partition was 'copied'
-- without them, the copy 'waits' for older transactions, or has taken its place ('thinned'), or there was too little to remove
-- ('passed'), or there is 'nothing' to do, or another server at it.
--
-- It looks at partitions that lie twice the window back. By then what was made before the window, as most events are, has been
-- deleted within what is compacted, and its deletion can go too. A row may go when a later row of its object is compacted as
-- well, so that each state which the window needs is still there; a deletion when no older partition has a row of the object.
CREATE OR REPLACE FUNCTION thin_partition() RETURNS text
LANGUAGE plpgsql
SECURITY DEFINER
SET lock_timeout = '200ms'
AS $$
#variable_conflict use_variable
DECLARE
    due       thinning;
    first     bigint;
    kinds     record;
    gone      text;
    size      record;
    fresh     text;
    target    int;
    is_due    boolean;
    readers   integer[];
BEGIN
    IF NOT (SELECT c.thins FROM compaction c) THEN
        RETURN 'nothing';
    END IF;
    BEGIN
        LOCK TABLE thinning IN SHARE UPDATE EXCLUSIVE MODE NOWAIT;
    EXCEPTION WHEN lock_not_available THEN
        RETURN 'nothing';
    END;

    SELECT t.* INTO due FROM thinning t;
    IF FOUND THEN
        -- The window has left it meanwhile.
        IF (SELECT b.noted FROM log_bounds b) >= due.high OR (SELECT c.revision FROM compaction c) >= due.high - 1 THEN
            EXECUTE format('DROP TABLE %s', due.copy);
            DELETE FROM thinning;
            RETURN 'passed';
        END IF;
        IF due.waits_for IS NULL THEN
            UPDATE thinning SET waits_for = (
                SELECT coalesce(array_agg(l.virtualtransaction), '{}')
                FROM pg_locks l
                JOIN pg_stat_activity a ON a.pid = l.pid AND a.datname = current_database()
                WHERE l.locktype = 'virtualxid' AND l.granted AND l.pid <> pg_backend_pid()
            )
            RETURNING waits_for INTO due.waits_for;
        END IF;
        IF EXISTS (SELECT FROM pg_locks l WHERE l.locktype = 'virtualxid' AND l.granted AND l.virtualtransaction = ANY (due.waits_for)) THEN
            RETURN 'waits';
        END IF;
        readers := readers_of_partition(due.partition);
        IF readers <> '{}' THEN
            RAISE 'partition % is read by the backends %', due.partition, readers
                USING ERRCODE = 'lock_not_available', DETAIL = array_to_string(readers, ',');
        END IF;
        LOCK TABLE revisions IN ACCESS EXCLUSIVE MODE;
        SELECT p.low INTO STRICT first FROM log_partitions() p WHERE p.partition = due.partition;
        EXECUTE format('ALTER TABLE revisions DETACH PARTITION %s', due.partition);
        EXECUTE format('DROP TABLE %s', due.partition);
        EXECUTE format('ALTER TABLE revisions ATTACH PARTITION %s FOR VALUES FROM (%s) TO (%s)', due.copy, first, due.high);
        EXECUTE format('ALTER TABLE %s DROP CONSTRAINT within', due.copy);
        UPDATE compaction SET thinned = greatest(thinned, due.high - 1);
        DELETE FROM thinning;
        RETURN 'thinned';
    END IF;

    SELECT * INTO kinds FROM partitions_to_thin() LIMIT 1;
    IF kinds.partition IS NULL THEN
        RETURN 'nothing';
    END IF;
    EXECUTE format('LOCK TABLE %s IN SHARE UPDATE EXCLUSIVE MODE', kinds.partition);
    gone := format(
        'SELECT x.revision, x.bytes
         FROM (
            SELECT r.revision, r.verb, r.api_group, r.resource, r.namespace, r.name, d.up_to,
                300 + coalesce(pg_column_size(r.object), pg_column_size(r.encoded), 0) AS bytes,
                lead(r.revision) OVER (PARTITION BY r.api_group, r.resource, r.namespace, r.name ORDER BY r.revision) AS next
            FROM %1$s r
            JOIN unnest(%2$L::text[], %3$L::bigint[]) AS d (name, up_to)
                ON d.name = r.resource || CASE WHEN r.api_group = '''' THEN '''' ELSE ''.'' || r.api_group END
         ) x
         WHERE x.revision < %5$s AND CASE
            WHEN x.verb = ''delete'' THEN NOT EXISTS (
                SELECT FROM revisions o
                WHERE o.api_group = x.api_group AND o.resource = x.resource AND o.namespace = x.namespace AND o.name = x.name
                  AND o.revision < %4$s
            )
            ELSE x.next IS NOT NULL OR EXISTS (
                SELECT FROM revisions n
                WHERE n.api_group = x.api_group AND n.resource = x.resource AND n.namespace = x.namespace AND n.name = x.name
                  AND n.revision > x.revision AND n.revision <= x.up_to
            )
         END',
        kinds.partition, kinds.names, kinds.revisions, kinds.low, kinds.high - 1
    );
    EXECUTE format(
        'SELECT (SELECT coalesce(sum(g.bytes), 0) FROM (%s) g) AS gone,
            (SELECT coalesce(sum(300 + coalesce(pg_column_size(r.object), pg_column_size(r.encoded), 0)), 0) FROM %s r) AS whole',
        gone, kinds.partition
    ) INTO size;
    -- What stays is written once more: that is worth it where at least half goes.
    is_due := size.gone > 0 AND size.gone * 2 >= size.whole;
    IF is_due THEN
        fresh := format('revisions_%s_from_%s', kinds.low, (SELECT max(r.revision) FROM revisions r));
        SELECT CASE a.attcompression WHEN 'l' THEN 4080 ELSE 8160 END INTO target
        FROM pg_attribute a
        WHERE a.attrelid = 'revisions'::regclass AND a.attname = 'object';
        EXECUTE format(
            'CREATE TABLE %I (
                LIKE %s INCLUDING DEFAULTS INCLUDING STORAGE INCLUDING COMPRESSION INCLUDING CONSTRAINTS INCLUDING INDEXES,
                CONSTRAINT within CHECK (revision >= %s AND revision < %s)
            ) WITH (toast_tuple_target = %s)',
            fresh, kinds.partition, kinds.low, kinds.high, target
        );
        EXECUTE (
            SELECT format('ALTER TABLE %I %s', fresh, string_agg(format('ALTER COLUMN %I SET STATISTICS 10', a.attname), ', '))
            FROM pg_attribute a
            WHERE a.attrelid = fresh::regclass AND a.attnum > 0 AND NOT a.attisdropped
        );
        EXECUTE format(
            'INSERT INTO %I SELECT r.* FROM %s r WHERE NOT EXISTS (SELECT FROM (%s) g WHERE g.revision = r.revision) ORDER BY r.revision',
            fresh, kinds.partition, gone
        );
        INSERT INTO thinning (high, partition, copy) VALUES (kinds.high, kinds.partition, fresh::regclass);
    END IF;
    -- Last, because servers that start wait for this row.
    UPDATE compaction c SET shorter = (
        SELECT jsonb_object_agg(
            s.key, CASE WHEN s.key = ANY (kinds.names) THEN s.value || jsonb_build_object('thinned', kinds.high) ELSE s.value END
        )
        FROM jsonb_each(c.shorter) s
    );
    RETURN CASE WHEN is_due THEN 'copied' ELSE 'passed' END;
END $$;

DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION thin_partition() SET search_path = %I, pg_temp', current_schema());
END $$;
