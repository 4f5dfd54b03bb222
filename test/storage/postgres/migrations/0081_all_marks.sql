-- beside: 64
-- in steps
--
-- Objects that were not written since 0078 get their marks, some at a time. Commits wait for a batch: they remember where rows lie.
--
-- A build that was cut off leaves an index that is not valid: it is dropped and built again. A build by another server is waited for.

-- step
DO $$
DECLARE
    broken record;
BEGIN
    FOR broken IN
        SELECT c.relname, EXISTS (SELECT FROM pg_stat_progress_create_index p WHERE p.index_relid = c.oid) AS is_built
        FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE i.indrelid = 'objects'::regclass AND NOT i.indisvalid
    LOOP
        IF broken.is_built THEN
            RAISE 'index % is being built', broken.relname USING ERRCODE = 'object_in_use';
        END IF;
        EXECUTE format('DROP INDEX %I', broken.relname);
    END LOOP;
END $$;

CREATE OR REPLACE FUNCTION fill_marks(at_most integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    filled bigint;
BEGIN
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    UPDATE objects o SET mark = 0
    FROM (SELECT n.ctid AS place FROM objects n WHERE n.mark IS NULL LIMIT at_most) n
    WHERE o.ctid = n.place;
    GET DIAGNOSTICS filled = ROW_COUNT;
    RETURN filled;
END $$;

-- step without transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS objects_by_mark ON objects (mark);

-- step repeated
SELECT fill_marks(200);

-- step
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = 'objects'::regclass AND conname = 'objects_marked') THEN
        ALTER TABLE objects ADD CONSTRAINT objects_marked CHECK (mark IS NOT NULL) NOT VALID;
    END IF;
END $$;

-- step
ALTER TABLE objects VALIDATE CONSTRAINT objects_marked;

-- step
ALTER TABLE objects ALTER COLUMN mark SET NOT NULL;
ALTER TABLE objects DROP CONSTRAINT objects_marked;
DROP FUNCTION fill_marks(integer);
