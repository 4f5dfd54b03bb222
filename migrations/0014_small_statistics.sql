-- ANALYZE sorts a sample of each column, 300 rows for each point of its target. With the default of 100 that took 0.3 s of CPU,
-- as long as 2,000 writes, each time autovacuum found that the log had changed by a tenth: several times a minute under load.
-- All that is looked for in these tables is found by their indexes, in whatever way a column's values are spread; a tenth of
-- the sample takes 0.05 s.
DO $$
DECLARE
    of record;
BEGIN
    FOR of IN
        SELECT attrelid::regclass AS changing, attname AS part
        FROM pg_attribute
        WHERE attrelid IN ('revisions'::regclass, 'heads'::regclass) AND attnum > 0 AND NOT attisdropped
    LOOP
        EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS 10', of.changing, of.part);
    END LOOP;
END $$;
