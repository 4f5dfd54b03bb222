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

-- As before (0032), but each state is looked up by itself: a join of the two in the order of the states began anew with the first state
-- of the partition in each batch.
CREATE OR REPLACE FUNCTION keep_superseded(leaving regclass, past bigint, copied bigint, newer_than bigint, at_most integer)
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
