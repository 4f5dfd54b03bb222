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

-- make_partition as it is, with an index that says which revision has replaced a state: when the partition of the state goes, that is
-- asked for each of them, and lies anywhere in a log that no memory holds.
DO $$
DECLARE
    before text := pg_get_functiondef('make_partition(bigint)'::regprocedure);
    known  text := 'CREATE INDEX %I ON %I (previous_revision) WHERE';
BEGIN
    IF position(known IN before) = 0 THEN
        RAISE EXCEPTION 'make_partition does not make the index by older state as expected';
    END IF;
    EXECUTE replace(before, known, 'CREATE INDEX %I ON %I (previous_revision) INCLUDE (revision) WHERE');
END $$;

-- grant_server as it is, with the right to this.
DO $$
DECLARE
    before text := pg_get_functiondef('grant_server(name)'::regprocedure);
    last   text := $last$('EXECUTE ON FUNCTION drop_partition(interval)')$last$;
    more   text := last || $more$,
            ('EXECUTE ON FUNCTION index_requests()')$more$;
BEGIN
    IF position(last IN before) = 0 THEN
        RAISE EXCEPTION 'grant_server does not say where rights to functions belong';
    END IF;
    EXECUTE replace(before, last, more);
END $$;
