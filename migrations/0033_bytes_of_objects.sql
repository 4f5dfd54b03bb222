-- beside: 22
-- in steps
--
-- Objects that were not written since 0031 get their bytes from the log, some at a time. While one step is at it, commits wait:
-- they remember where the rows lie.

-- step
CREATE OR REPLACE FUNCTION fill_objects(at_most integer) RETURNS bigint
LANGUAGE plpgsql
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
DECLARE
    filled bigint;
BEGIN
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    UPDATE objects o
    SET object = r.object, encoded = r.encoded, media_type = r.media_type, modified_at = r.committed_at
    FROM (SELECT n.ctid AS place, n.revision FROM objects n WHERE n.modified_at IS NULL LIMIT at_most) n
    JOIN revisions r ON r.revision = n.revision
    WHERE o.ctid = n.place;
    GET DIAGNOSTICS filled = ROW_COUNT;
    RETURN filled;
END $$;

-- step without transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS objects_without_bytes ON objects (revision) WHERE modified_at IS NULL;

-- step repeated
SELECT fill_objects(200);

-- step
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = 'objects'::regclass AND conname = 'objects_check') THEN
        ALTER TABLE objects
            ADD CONSTRAINT objects_check CHECK ((object IS NULL) <> (encoded IS NULL)) NOT VALID,
            ADD CONSTRAINT objects_modified CHECK (modified_at IS NOT NULL) NOT VALID;
    END IF;
END $$;

-- step
ALTER TABLE objects VALIDATE CONSTRAINT objects_check;

-- step
ALTER TABLE objects VALIDATE CONSTRAINT objects_modified;

-- step
ALTER TABLE objects ALTER COLUMN modified_at SET NOT NULL;
ALTER TABLE objects DROP CONSTRAINT objects_modified;
DROP INDEX objects_without_bytes;
DROP FUNCTION fill_objects(integer);
COMMENT ON TABLE objects IS 'The live objects, one row each.';
COMMENT ON COLUMN objects.revision IS 'Of its last write: the resourceVersion.';
COMMENT ON COLUMN objects.object IS 'Without metadata.resourceVersion, which is the revision.';
COMMENT ON COLUMN objects.encoded IS 'The object in the media type beside it, where it is not stored as JSON.';
COMMENT ON COLUMN objects.modified_at IS 'When its last write was committed.';
COMMENT ON TABLE revisions IS 'The log: one row for every write. The id is the resourceVersion. Partitions behind the window are dropped.';
COMMENT ON TABLE superseded IS 'States that the log no longer has and the window still needs: from revision to before superseded_by.';
COMMENT ON TABLE log_bounds IS 'Where the log begins and ends: below low is nothing, up to high there are partitions.';
COMMENT ON COLUMN log_bounds.left_at IS 'When low was raised.';
