-- beside: 44
--
-- Copying a partition without its old rows (0084) takes minutes where partitions are large. Servers call it over a connection of its own
-- now, when something is due, and it holds no row meanwhile that servers wait for.

-- It was never read.
ALTER TABLE thinning DROP COLUMN resources;

-- The partitions that lie twice the window of a resource back and may still have old rows of it, with the names of those resources and
-- their compacted revisions, the oldest first.
CREATE FUNCTION partitions_to_thin()
RETURNS TABLE (high bigint, partition regclass, low bigint, names text[], revisions bigint[])
LANGUAGE sql STABLE AS $$
    SELECT p.high, p.partition, p.low, array_agg(k.name) AS names, array_agg(k.revision) AS revisions
    FROM log_partitions() p
    JOIN (
        SELECT s.key AS name, (s.value ->> 'revision')::bigint AS revision, (s.value ->> 'thinned')::bigint AS thinned,
            revision_at(clock_timestamp() - make_interval(secs => 2 * (s.value ->> 'window')::float8)) AS up_to
        FROM compaction c, jsonb_each(c.shorter) s
        WHERE s.value ->> 'window' IS NOT NULL
    ) k ON k.thinned < p.high AND k.up_to >= p.high - 1 AND k.revision >= p.high - 1
    WHERE p.low IS NOT NULL AND p.high - 1 > (SELECT c.revision FROM compaction c) AND p.high > (SELECT b.noted FROM log_bounds b)
      AND p.high <= (SELECT max(r.revision) FROM revisions r)
      -- Loads read no bytes from it any more.
      AND p.high - 1 <= (SELECT coalesce(f.filled_to, p.high) FROM filling f)
    GROUP BY p.high, p.partition, p.low
    ORDER BY p.high
$$;

CREATE FUNCTION thinning_is_due() RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT c.thins AND (EXISTS (SELECT FROM thinning) OR EXISTS (SELECT FROM partitions_to_thin())) FROM compaction c
$$;

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
    IF NOT (SELECT c.thins FROM compaction c)
        OR NOT pg_try_advisory_xact_lock('commit_order'::regclass::oid::int, hashtext('pg-apiserver thins')) THEN
        RETURN 'nothing';
    END IF;

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

-- As before (0084), with the right to see what is being copied.
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
            ('EXECUTE ON FUNCTION make_partition(bigint)'),
            ('EXECUTE ON FUNCTION leave_partition()'),
            ('EXECUTE ON FUNCTION drop_partition(interval)'),
            ('SELECT ON thinning'),
            ('EXECUTE ON FUNCTION thin_partition()'),
            ('EXECUTE ON FUNCTION put_custom_resource_view(text, text, json, text)'),
            ('EXECUTE ON FUNCTION drop_custom_resource_view(text, text)'),
            ('EXECUTE ON FUNCTION index_requests()')
        ) g (rights)
        UNION ALL
        SELECT format('EXECUTE ON FUNCTION %s', f.function) FROM functions_of_owner() f WHERE NOT f.is_definer
    LOOP
        EXECUTE format('GRANT %s TO %I', of.rights, to_role);
    END LOOP;
    RETURN format('%s may serve', to_role);
END $$;
