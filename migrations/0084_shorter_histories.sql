-- beside: 44
--
-- Some resources keep less history than the others: in a cluster of a thousand nodes leases are renewed a hundred times a second, and
-- what they were a month ago is of no use. Each has a compacted revision of its own, below which reads and watches of it end with 410.
-- Its old rows leave a partition early, when the partition is written anew without them (thin_partition).

ALTER TABLE compaction
    ADD COLUMN shorter jsonb   NOT NULL DEFAULT '{}',
    ADD COLUMN thinned bigint  NOT NULL DEFAULT 0,
    ADD COLUMN thins   boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN compaction.shorter IS
    'Resources with a shorter history, as resource or resource.group: {"window": seconds, "revision": superseded states of it at or below this are gone, "thinned": rows of it below this were removed}.';
COMMENT ON COLUMN compaction.thinned IS 'Up to this revision the log may lack rows of resources with a shorter history.';
COMMENT ON COLUMN compaction.thins IS 'No server is left that knows nothing of shorter histories.';

-- A partition that was copied without what leaves early, to take the place of the partition once no transaction is left that began
-- before the copy was committed: an older snapshot would find the copy empty.
CREATE TABLE thinning (
    high      bigint   PRIMARY KEY,
    partition regclass NOT NULL,
    copy      regclass NOT NULL,
    resources text[]   NOT NULL,
    waits_for text[]
);
COMMENT ON TABLE thinning IS 'The copy of a partition, without the old rows of resources with a shorter history, that is to take its place.';

-- The compacted revision of a resource.
CREATE FUNCTION compacted_revision(of_group text, of_resource text) RETURNS bigint
LANGUAGE sql STABLE AS $$
    SELECT greatest(
        c.revision,
        (c.shorter -> (of_resource || CASE WHEN of_group = '' THEN '' ELSE '.' || of_group END) ->> 'revision')::bigint
    )
    FROM compaction c
$$;

-- Raises the compacted revisions of resources with a shorter history, but not to the newest revision of all.
CREATE FUNCTION compact_shorter_histories() RETURNS void
LANGUAGE sql AS $$
    UPDATE compaction c
    SET shorter = (
        SELECT jsonb_object_agg(
            s.key,
            s.value || jsonb_build_object('revision', greatest(
                (s.value ->> 'revision')::bigint,
                least(
                    revision_at(clock_timestamp() - make_interval(secs => (s.value ->> 'window')::float8)),
                    (SELECT max(r.revision) - 1 FROM revisions r)
                ),
                0
            ))
        )
        FROM jsonb_each(c.shorter) s
    )
    WHERE c.shorter <> '{}'
$$;

-- Sets which resources have shorter histories, in seconds. What was cut off stays cut off.
CREATE FUNCTION set_shorter_histories(windows jsonb) RETURNS void
LANGUAGE sql AS $$
    UPDATE compaction c
    SET shorter = coalesce((
        SELECT jsonb_object_agg(
            coalesce(w.key, s.key),
            coalesce(s.value, '{"revision": 0, "thinned": 0}') || jsonb_build_object('window', w.value)
        )
        FROM jsonb_each(windows) w
        FULL JOIN jsonb_each(c.shorter) s ON s.key = w.key
        WHERE w.key IS NOT NULL OR (s.value ->> 'revision')::bigint > c.revision
    ), '{}')
$$;

-- One step of removing the old rows of resources with a shorter history from a partition. Returns whether the partition was 'copied'
-- without them, the copy 'waits' for older transactions, or has taken its place ('thinned'), or there was too little to remove
-- ('passed'), or there is 'nothing' to do, or another server at it.
--
-- It looks at partitions that lie twice the window back. By then what was made before the window, as most events are, has been
-- deleted within what is compacted, and its deletion can go too. A row may go when a later row of its object is compacted as
-- well, so that each state which the window needs is still there; a deletion when no older partition has a row of the object.
CREATE FUNCTION thin_partition() RETURNS text
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

    SELECT p.high, p.partition, p.low, array_agg(k.name) AS names, array_agg(k.revision) AS revisions INTO kinds
    FROM log_partitions() p
    JOIN (
        SELECT s.key AS name, (s.value ->> 'revision')::bigint AS revision, (s.value ->> 'thinned')::bigint AS thinned,
            revision_at(clock_timestamp() - make_interval(secs => 2 * (s.value ->> 'window')::float8)) AS up_to
        FROM compaction c, jsonb_each(c.shorter) s
        WHERE s.value ->> 'window' IS NOT NULL
    ) k ON k.thinned < p.high AND k.up_to >= p.high - 1 AND k.revision >= p.high - 1
    WHERE p.low IS NOT NULL AND p.high - 1 > (SELECT c.revision FROM compaction c) AND p.high > (SELECT b.noted FROM log_bounds b)
      AND p.high <= (SELECT max(r.revision) FROM revisions r)
    GROUP BY p.high, p.partition, p.low
    ORDER BY p.high
    LIMIT 1;
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
    UPDATE compaction c SET shorter = (
        SELECT jsonb_object_agg(
            s.key, CASE WHEN s.key = ANY (kinds.names) THEN s.value || jsonb_build_object('thinned', kinds.high) ELSE s.value END
        )
        FROM jsonb_each(c.shorter) s
    );
    -- What stays is written once more: that is worth it where at least half goes.
    IF size.gone * 2 < size.whole OR size.gone = 0 THEN
        RETURN 'passed';
    END IF;

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
        'INSERT INTO %I SELECT r.* FROM %s r WHERE r.revision NOT IN (SELECT g.revision FROM (%s) g) ORDER BY r.revision',
        fresh, kinds.partition, gone
    );
    INSERT INTO thinning (high, partition, copy, resources) VALUES (kinds.high, kinds.partition, fresh::regclass, kinds.names);
    RETURN 'copied';
END $$;
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION thin_partition() SET search_path = %I, pg_temp', current_schema());
END $$;

-- As above (assert_in_history of 0002), for a question about one resource.
CREATE FUNCTION assert_in_history(at bigint, of_group text, of_resource text) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
    oldest bigint := compacted_revision(of_group, of_resource);
BEGIN
    IF at IS NULL OR at < oldest THEN
        RAISE EXCEPTION 'revision % is older than the history that is kept of %', coalesce(at::text, '(none)'), of_resource
            USING HINT = format(
                'Ask for revision %s or later, or run the servers with a longer --history-window, for %s by name if it has one of its own.',
                oldest, of_resource
            );
    END IF;
    RETURN at;
END $$;

-- As before (0040), but within the history of the resource.
CREATE OR REPLACE FUNCTION object_at(of_group text, of_resource text, of_namespace text, of_name text, at bigint) RETURNS json
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN s.verb = 'delete' THEN NULL ELSE s.object END
    FROM (
        (
            SELECT r.revision, r.verb, r.object
            FROM history r
            WHERE r.api_group = of_group AND r.resource = of_resource AND r.namespace = of_namespace AND r.name = of_name
              AND r.revision <= (SELECT assert_in_history(object_at.at, of_group, of_resource))
            ORDER BY r.revision DESC
            LIMIT 1
        )
        UNION ALL
        SELECT p.revision, 'update', p.object
        FROM superseded_objects p
        WHERE p.api_group = of_group AND p.resource = of_resource AND p.namespace = of_namespace AND p.name = of_name
          AND p.revision <= (SELECT assert_in_history(object_at.at)) AND p.superseded_by > object_at.at
        UNION ALL
        SELECT o.revision, 'update', o.object
        FROM current_objects o
        WHERE o.api_group = of_group AND o.resource = of_resource AND o.namespace = of_namespace AND o.name = of_name
          AND o.revision <= (SELECT assert_in_history(object_at.at))
    ) s
    ORDER BY s.revision DESC
    LIMIT 1
$$;
COMMENT ON FUNCTION cluster_at(bigint) IS
    'The state of the cluster at a revision. A resource with a shorter history is complete within that alone.';

-- As before (0074), but a row that left early says nothing against the log.
CREATE OR REPLACE FUNCTION doubt_row(seen bigint, seen_write uuid) RETURNS text
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    found uuid;
BEGIN
    IF seen IS NULL OR seen <= (SELECT max(e.epoch) FROM epochs e)
        OR seen <= (SELECT greatest(c.revision, c.thinned) FROM compaction c) THEN
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

-- As before (0031), but where a resource has a shorter history, a partition spans no more than that, or a thirtieth of the window,
-- whichever is more: a partition is thinned as a whole.
CREATE OR REPLACE FUNCTION next_partition_size() RETURNS bigint
LANGUAGE sql STABLE AS $$
    SELECT least(greatest(written.newest - written.before, 10000), 50000000)
    FROM (
        SELECT (SELECT max(r.revision) FROM revisions r) AS newest,
            greatest(
                revision_at(clock_timestamp() - least(
                    coalesce(c.history_window, '5 minutes') / 8,
                    greatest(
                        (SELECT min(make_interval(secs => (s.value ->> 'window')::float8)) FROM jsonb_each(c.shorter) s),
                        c.history_window / 30
                    )
                )),
                c.revision,
                (SELECT max(e.epoch) FROM epochs e)
            ) AS before
        FROM compaction c
    ) written
$$;

-- As before (0075), with thin_partition.
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

-- Written whole: migrations before (0055, 0064) patched its text.
CREATE OR REPLACE FUNCTION grant_reader(to_role name) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    here name := (SELECT relnamespace::regnamespace FROM pg_class WHERE oid = 'revisions'::regclass);
    of   text;
BEGIN
    IF NOT has_schema_privilege(to_role, here, 'USAGE') THEN
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', here, to_role);
    END IF;
    FOREACH of IN ARRAY ARRAY[
        'SELECT ON history, history_jsonb, current_objects, objects_jsonb, superseded_objects',
        'SELECT ON changes, deleted, labels, conditions',
        'SELECT ON compaction, epochs, log_bounds',
        'SELECT (revision, committed_at) ON revisions',
        'EXECUTE ON FUNCTION revision_at(timestamptz), revision_of(text), compacted_revision(text, text)',
        'EXECUTE ON FUNCTION assert_in_history(bigint), assert_in_history(bigint, text, text), resources_in_history()',
        'EXECUTE ON FUNCTION object_at(text, text, text, text, bigint), object_at(text, text, text, text, timestamptz)',
        'EXECUTE ON FUNCTION object_at(text, text, text, text, text)',
        'EXECUTE ON FUNCTION cluster_at(bigint), cluster_at(timestamptz), cluster_at(text)',
        'EXECUTE ON FUNCTION cluster_at(bigint, text, text, text), cluster_at(timestamptz, text, text, text)',
        'EXECUTE ON FUNCTION cluster_at(text, text, text, text)',
        'EXECUTE ON FUNCTION cluster_diff(bigint, bigint), cluster_diff(timestamptz, timestamptz), cluster_diff(text, text)',
        'EXECUTE ON FUNCTION cluster_diff(timestamptz, timestamptz, text)',
        'EXECUTE ON FUNCTION changes_of(text, text, text, text), blame_of(text, text, text, text)',
        'EXECUTE ON FUNCTION changes_of(text, text, text, text, timestamptz, timestamptz, bigint)',
        'EXECUTE ON FUNCTION timeline(text, timestamptz), timeline(text, timestamptz, timestamptz, bigint)',
        'EXECUTE ON FUNCTION images_at(timestamptz), images_at(timestamptz, text), quantity(text)',
        'EXECUTE ON FUNCTION path_of(text, text), keys_of(jsonb, jsonb), parts_of(text, jsonb, text[]), has_parts(jsonb)',
        'EXECUTE ON FUNCTION changed_data(json, json), changes_between(jsonb, jsonb), leaves_of(jsonb)',
        'EXECUTE ON FUNCTION as_jsonb(json), without_secret_data(json), readable_object(json, bytea, text)'
    ] LOOP
        EXECUTE format('GRANT %s TO %I', of, to_role);
    END LOOP;
    RETURN format('%s may read, but not what Secrets hold (GRANT SELECT ON secret_data shows that)', to_role);
END $$;
