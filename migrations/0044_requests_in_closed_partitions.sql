-- beside: 34
--
-- Which changes a request has made is found by an index that commits do not pay for: a partition gets it when it is written to no
-- more. Until then it is read as a whole; a condition on the time spares most of that.

-- The newest partition that has no such index and is written to no more: rows come in the order of their revisions, so there is none
-- on its way to a partition that ends before one that can be seen. What is about to go does not need it any more.
CREATE FUNCTION closed_without_requests() RETURNS regclass
LANGUAGE sql STABLE AS $$
    SELECT p.partition
    FROM log_partitions() p
    WHERE p.high <= (SELECT max(r.revision) FROM revisions r)
      AND p.high - 1 > (SELECT c.revision FROM compaction c)
      AND NOT EXISTS (
        SELECT FROM pg_index i
        JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
        WHERE i.indrelid = p.partition AND a.attname = 'request_id'
      )
    ORDER BY p.high DESC
    LIMIT 1
$$;

-- Makes that index. Reads go on meanwhile, and writes to all other partitions. Answers the partition; null when there is none left.
--
-- By hash: half as large as the ids themselves, and what is asked for is always the whole id.
CREATE FUNCTION index_requests() RETURNS text
LANGUAGE plpgsql
SECURITY DEFINER
SET lock_timeout = '2s'
AS $$
DECLARE
    closed regclass;
BEGIN
    FOR attempt IN 1..2 LOOP
        closed := closed_without_requests();
        IF closed IS NULL THEN
            RETURN NULL;
        END IF;
        -- Another server may have made it by the time the lock is there.
        EXECUTE format('LOCK TABLE %s IN SHARE UPDATE EXCLUSIVE MODE', closed);
    END LOOP;
    EXECUTE format(
        'CREATE INDEX %I ON %s USING hash (request_id)',
        (SELECT relname FROM pg_class WHERE oid = closed) || '_by_request', closed
    );
    RETURN closed::text;
END $$;

DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION index_requests() SET search_path = %I, pg_temp', current_schema());
END $$;

COMMENT ON FUNCTION index_requests() IS 'Makes the index by request id of a partition that is written to no more.';

-- As before (0041), with all functions: those with rights of their own are there for servers.
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
            ('SELECT, INSERT, DELETE ON superseded'),
            ('SELECT, INSERT, DELETE ON allocations'),
            ('SELECT, UPDATE ON compaction'),
            ('SELECT, INSERT ON epochs'),
            ('SELECT ON log_bounds'),
            ('SELECT ON schema_migrations'),
            ('SELECT, INSERT, UPDATE, DELETE ON server_leases'),
            ('SELECT, INSERT, UPDATE ON cluster_keys'),
            ('SELECT, INSERT, DELETE ON signing_keys')
        ) g (rights)
        UNION ALL
        SELECT format('EXECUTE ON FUNCTION %s', f.function) FROM functions_of_owner() f
    LOOP
        EXECUTE format('GRANT %s TO %I', of.rights, to_role);
    END LOOP;
    RETURN format('%s may serve', to_role);
END $$;
