-- beside: 44
--
-- What happened in a namespace, newest or oldest first, is read along an index of its revisions. Which changes a request has made is
-- found in the partition that is written to by a summary of its pages, which costs commits next to nothing; when the partition is
-- written to no more it gets the index that is exact (0044), and the one by namespace where it has none.

-- make_partition as it is, with these.
DO $$
DECLARE
    before text := pg_get_functiondef('make_partition(bigint)'::regprocedure);
    known  text := $known$    EXECUTE format('ALTER TABLE revisions ATTACH PARTITION$known$;
    more   text := $more$    EXECUTE format('CREATE INDEX %I ON %I (namespace, revision)', fresh || '_by_namespace', fresh);
    EXECUTE format(
        'CREATE INDEX %I ON %I USING brin (request_id text_bloom_ops (n_distinct_per_range = 1000)) WITH (autosummarize = on)',
        fresh || '_by_recent_request', fresh
    );
$more$ || known;
BEGIN
    IF position(known IN before) = 0 THEN
        RAISE EXCEPTION 'make_partition does not attach a partition as expected';
    END IF;
    EXECUTE replace(before, known, more);
END $$;

-- Which of both a partition has no index for.
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

-- As before (0044), with the index by namespace.
CREATE OR REPLACE FUNCTION closed_without_requests() RETURNS regclass
LANGUAGE sql STABLE AS $$
    SELECT p.partition
    FROM log_partitions() p
    WHERE p.high <= (SELECT max(r.revision) FROM revisions r)
      AND p.high - 1 > (SELECT c.revision FROM compaction c)
      AND (lacks_index(p.partition, 'hash', 'request_id') OR lacks_index(p.partition, 'btree', 'namespace'))
    ORDER BY p.high DESC
    LIMIT 1
$$;

CREATE OR REPLACE FUNCTION index_requests() RETURNS text
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

DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION index_requests() SET search_path = %I, pg_temp', current_schema());
END $$;

COMMENT ON FUNCTION index_requests() IS 'Makes the indexes by request id and by namespace of a partition that is written to no more.';

-- Partitions that nothing was written to yet.
DO $$
DECLARE
    ahead    record;
    is_empty boolean;
BEGIN
    FOR ahead IN
        SELECT p.partition, c.relname AS called FROM log_partitions() p JOIN pg_class c ON c.oid = p.partition
    LOOP
        EXECUTE format('SELECT NOT EXISTS (SELECT FROM %s)', ahead.partition) INTO is_empty;
        IF is_empty AND lacks_index(ahead.partition, 'btree', 'namespace') THEN
            EXECUTE format('CREATE INDEX %I ON %s (namespace, revision)', ahead.called || '_by_namespace', ahead.partition);
            EXECUTE format(
                'CREATE INDEX %I ON %s USING brin (request_id text_bloom_ops (n_distinct_per_range = 1000)) WITH (autosummarize = on)',
                ahead.called || '_by_recent_request', ahead.partition
            );
        END IF;
    END LOOP;
END $$;
