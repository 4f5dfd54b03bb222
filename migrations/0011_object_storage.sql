-- Objects stay in their row, whole, as far as a page takes them: putting a 5.5 kB pod out of line, in two chunks with an index
-- entry each, and together again for the replication stream, cost more than writing the bytes.
--
-- Where PostgreSQL was built with lz4, compressing costs little and halves the WAL, so rows over 4 kB are compressed. Where it
-- was not, all there is is pglz, at 16 µs a kB: 90 of the 250 µs that a pod cost the database. Objects are stored as they are
-- then, and those beyond a page out of line: a 60 kB object costs 0.9 ms instead of 2.1, and 65 kB of WAL instead of 14.
DO $$
BEGIN
    IF (SELECT attcompression FROM pg_attribute WHERE attrelid = 'revisions'::regclass AND attname = 'object') = 'l' THEN
        ALTER TABLE revisions SET (toast_tuple_target = 4080);
    ELSE
        ALTER TABLE revisions SET (toast_tuple_target = 8160);
        ALTER TABLE revisions ALTER COLUMN object SET STORAGE EXTERNAL;
        ALTER TABLE revisions ALTER COLUMN encoded SET STORAGE EXTERNAL;
    END IF;
END $$;

-- Who wrote is read in SQL alone; those who tail the log need not be sent it. Lists of columns are new in PostgreSQL 15.
DO $$
BEGIN
    IF current_setting('server_version_num')::int >= 150000 THEN
        EXECUTE 'ALTER PUBLICATION pg_apiserver_revisions SET TABLE revisions (
            revision, api_group, resource, namespace, name, uid, verb, previous_revision, object, committed_at, write_id
        )';
    END IF;
END $$;
