-- beside: 44
--
-- One request id may be that of very many rows: what expires has none, and a client may send one Audit-Id with all that it does. An
-- index by hash puts them into one bucket, through all of which each further one goes: 30,000 of them cost 800,000 pages, and a million
-- some thousand times that. A partition that has such a request gets a btree, which keeps equal ids together; the others have the
-- index by hash, of half the size.

-- As before (0064), with either index.
CREATE OR REPLACE FUNCTION closed_without_requests() RETURNS regclass
LANGUAGE sql STABLE AS $$
    SELECT p.partition
    FROM log_partitions() p
    WHERE p.high <= (SELECT max(r.revision) FROM revisions r)
      AND p.high - 1 > (SELECT c.revision FROM compaction c)
      AND (
        lacks_index(p.partition, 'hash', 'request_id') AND lacks_index(p.partition, 'btree', 'request_id')
        OR lacks_index(p.partition, 'btree', 'namespace')
      )
    ORDER BY p.high DESC
    LIMIT 1
$$;

-- As before (0064), with the index that suits. A sample of a thousand pages tells whether a request has some 20,000 rows or more.
CREATE OR REPLACE FUNCTION index_requests() RETURNS text
LANGUAGE plpgsql
SECURITY DEFINER
SET lock_timeout = '2s'
AS $$
DECLARE
    closed  regclass;
    called  text;
    percent numeric;
    most    bigint;
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
    IF lacks_index(closed, 'hash', 'request_id') AND lacks_index(closed, 'btree', 'request_id') THEN
        percent := least(100, 1000 * 100 * 8192.0 / greatest(pg_relation_size(closed), 8192));
        EXECUTE format(
            'SELECT max(s.count) FROM (SELECT count(*) FROM %s TABLESAMPLE SYSTEM (%s) GROUP BY request_id) s', closed, percent
        ) INTO most;
        EXECUTE format(
            'CREATE INDEX %I ON %s USING %s (request_id)',
            called || '_by_request', closed, CASE WHEN most * 100 / percent >= 20000 THEN 'btree' ELSE 'hash' END
        );
    END IF;
    RETURN closed::text;
END $$;
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION index_requests() SET search_path = %I, pg_temp', current_schema());
END $$;
