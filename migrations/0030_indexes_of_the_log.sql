-- beside: 22
-- in steps
--
-- What a watch of one resource is replayed from, and what is asked for by time. The log becomes a partition later on (0032), and
-- brings these along: built there, they would hold up everything.
--
-- A build that was cut off leaves an index that is not valid: it is dropped and built again. One that another server is at is
-- waited for.

-- step
DO $$
DECLARE
    broken record;
BEGIN
    FOR broken IN
        SELECT c.relname, EXISTS (SELECT FROM pg_stat_progress_create_index p WHERE p.index_relid = c.oid) AS is_built
        FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE i.indrelid = 'revisions'::regclass AND NOT i.indisvalid
    LOOP
        IF broken.is_built THEN
            RAISE 'index % is being built', broken.relname USING ERRCODE = 'object_in_use';
        END IF;
        EXECUTE format('DROP INDEX %I', broken.relname);
    END LOOP;
END $$;

-- step without transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS revisions_by_resource ON revisions (resource, revision);

-- step without transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS revisions_by_time ON revisions USING brin (committed_at) WITH (autosummarize = on);
