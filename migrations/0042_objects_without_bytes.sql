-- beside: 41
-- in steps
--
-- An object may lie without its bytes: the log has them, in the row of the object's revision. Whatever reads objects finds them there.
-- What writes objects leaves them out from 0043 on, when no server is left that does not know.
--
-- Later the bytes are brought to the object, unless it was written again meanwhile: what is written often is stored once.

-- step
DO $$
BEGIN
    IF (SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'objects'::regclass AND conname = 'objects_check') LIKE '%<>%'
    THEN
        ALTER TABLE objects
            DROP CONSTRAINT objects_check,
            ADD CONSTRAINT objects_check CHECK (object IS NULL OR encoded IS NULL) NOT VALID;
    END IF;
END $$;

-- step
ALTER TABLE objects VALIDATE CONSTRAINT objects_check;

-- step

-- Which objects have their bytes: all that were written last up to `filled_to`; null while none is left without. The walk through
-- the objects that is under way fills what was written last up to `up_to`, and has come to the object with this key; `due` are the
-- next to be filled. One row.
CREATE TABLE filling (
    only_row  boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    filled_to bigint,
    filled_at timestamptz NOT NULL,
    -- That the last walk passed, which is what a walk costs.
    objects   bigint  NOT NULL DEFAULT 0,
    up_to     bigint,
    passed    bigint  NOT NULL DEFAULT 0,
    api_group text    COLLATE "C" NOT NULL DEFAULT '',
    resource  text    COLLATE "C" NOT NULL DEFAULT '',
    namespace text    COLLATE "C" NOT NULL DEFAULT '',
    name      text    COLLATE "C" NOT NULL DEFAULT '',
    due       bigint[] NOT NULL DEFAULT '{}'
) WITH (fillfactor = 10);
INSERT INTO filling (filled_at) VALUES (clock_timestamp());

-- For the views below. Each part of the bytes is looked for by itself, so that who does not ask for it pays nothing.
CREATE VIEW objects_with_bytes AS
SELECT
    o.api_group, o.resource, o.namespace, o.name, o.uid, o.revision,
    CASE WHEN o.object IS NULL AND o.encoded IS NULL
        THEN (SELECT r.object FROM revisions r WHERE r.revision = o.revision) ELSE o.object END AS object,
    CASE WHEN o.object IS NULL AND o.encoded IS NULL
        THEN (SELECT r.encoded FROM revisions r WHERE r.revision = o.revision) ELSE o.encoded END AS encoded,
    CASE WHEN o.object IS NULL AND o.encoded IS NULL
        THEN (SELECT r.media_type FROM revisions r WHERE r.revision = o.revision) ELSE o.media_type END AS media_type,
    o.modified_at, o.expires_at
FROM objects o;

CREATE OR REPLACE VIEW secret_data AS
SELECT namespace, name, uid, revision, object, encoded, media_type, modified_at
FROM objects_with_bytes
WHERE api_group = '' AND resource = 'secrets';

CREATE OR REPLACE VIEW current_objects AS
SELECT
    api_group, resource, namespace, name, uid, revision,
    CASE WHEN api_group = '' AND resource = 'secrets' AND NOT has_table_privilege('secret_data'::regclass, 'SELECT')
        THEN without_secret_data(object) ELSE object END AS object,
    modified_at, expires_at,
    CASE WHEN api_group = '' AND resource = 'secrets' AND NOT has_table_privilege('secret_data'::regclass, 'SELECT')
        THEN NULL ELSE encoded END AS encoded,
    media_type
FROM objects_with_bytes;

-- Left by 0031 where people had built on it.
DO $$
BEGIN
    IF to_regclass('objects_view') IS NOT NULL THEN
        CREATE OR REPLACE VIEW objects_view AS
        SELECT api_group, resource, namespace, name, uid, revision, object, modified_at, expires_at FROM objects_with_bytes;
    END IF;
END $$;

-- Up to which revision objects are to be filled now; null when there is nothing worth a walk through all objects. Those that were
-- written at least `behind` revisions ago, or longer ago than `older_than`, or lie behind the window, are not expected to be
-- written again soon.
--
-- A walk passes each object, so there is none for fewer revisions than there are objects; but one after each `older_than`, and
-- whenever a partition waits for it.
CREATE FUNCTION fill_up_to(behind bigint, older_than interval) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
    last   filling;
    cut    bigint;
    wanted bigint;
BEGIN
    SELECT f.* INTO STRICT last FROM filling f;
    SELECT c.revision INTO STRICT cut FROM compaction c;
    SELECT greatest(max(r.revision) - behind, revision_at(clock_timestamp() - older_than), cut) INTO wanted FROM revisions r;
    IF wanted > last.filled_to AND (
        wanted - last.filled_to >= greatest(behind, last.objects)
        OR last.filled_at <= clock_timestamp() - older_than
        OR EXISTS (SELECT FROM log_partitions() p WHERE p.high - 1 <= cut AND p.high - 1 > last.filled_to)
    ) THEN
        RETURN wanted;
    END IF;
    RETURN NULL;
END $$;

-- One step of bringing objects their bytes: passes some objects, in the order of their keys, which do not change, and notes
-- those that lack theirs; or fills what was noted. Answers whether there is 'more' to do of the walk, it is 'done', or there is
-- 'nothing' to do, or another server at it.
--
-- Commits remember where objects lie, so they wait while these are filled. That is kept short: the bytes were read before, there
-- are few of them, and nothing is waited for after. What a crash takes back is done again: a partition that goes later is
-- later in the WAL as well.
CREATE FUNCTION fill_objects(behind bigint, older_than interval) RETURNS text
LANGUAGE plpgsql
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
-- The order is that of the index, also before there are statistics.
SET enable_sort = off
SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan
SET lock_timeout = '2s'
AS $$
DECLARE
    walk    filling;
    part    record;
    count   bigint := 0;
    bytes   bigint := 0;
    missing bigint[] := '{}';
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    SELECT f.* INTO walk FROM filling f WHERE f.filled_to IS NOT NULL FOR UPDATE SKIP LOCKED;
    IF walk.filled_to IS NULL THEN
        RETURN 'nothing';
    END IF;

    IF walk.up_to IS NULL THEN
        walk.up_to := fill_up_to(behind, older_than);
        IF walk.up_to IS NULL THEN
            RETURN 'nothing';
        END IF;
        UPDATE filling
        SET up_to = walk.up_to, passed = 0, api_group = '', resource = '', namespace = '', name = '', due = '{}';
        RETURN 'more';
    END IF;

    IF walk.due <> '{}' THEN
        LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
        UPDATE objects o
        SET object = r.object, encoded = r.encoded, media_type = r.media_type
        FROM unnest(walk.due) AS d (revision)
        JOIN revisions r ON r.revision = d.revision
        WHERE o.api_group = r.api_group AND o.resource = r.resource AND o.namespace = r.namespace AND o.name = r.name
          AND o.revision = r.revision AND o.object IS NULL AND o.encoded IS NULL;
        UPDATE filling SET due = '{}';
        RETURN 'more';
    END IF;

    FOR part IN
        SELECT o.api_group, o.resource, o.namespace, o.name, o.revision,
            o.object IS NULL AND o.encoded IS NULL AND o.revision <= walk.up_to AS is_due
        FROM objects o
        WHERE (o.api_group, o.resource, o.namespace, o.name) > (walk.api_group, walk.resource, walk.namespace, walk.name)
        ORDER BY o.api_group, o.resource, o.namespace, o.name
        LIMIT 5000
    LOOP
        count := count + 1;
        IF part.is_due THEN
            missing := missing || part.revision;
            bytes := bytes + (
                SELECT coalesce(octet_length(r.object::text), octet_length(r.encoded)) FROM revisions r WHERE r.revision = part.revision
            );
            EXIT WHEN cardinality(missing) = 50 OR bytes > 250000;
        END IF;
    END LOOP;
    IF count = 0 THEN
        UPDATE filling
        SET filled_to = walk.up_to, filled_at = clock_timestamp(), objects = walk.passed, up_to = NULL;
        RETURN 'done';
    END IF;
    UPDATE filling
    SET passed = walk.passed + count, api_group = part.api_group, resource = part.resource, namespace = part.namespace,
        name = part.name, due = missing;
    RETURN 'more';
END $$;

-- As before (0032), and not before the objects that were last written in the partition have their bytes.
CREATE OR REPLACE FUNCTION leave_partition() RETURNS text
LANGUAGE plpgsql
SECURITY DEFINER
SET lock_timeout = '2s'
AS $$
DECLARE
    leaving regclass;
    past    bigint;
    bounds  log_bounds;
    batch   record;
BEGIN
    SELECT p.partition, p.high INTO leaving, past
    FROM log_partitions() p
    JOIN log_bounds b ON p.high > b.low
    WHERE p.high - 1 <= (SELECT c.revision FROM compaction c) AND to_regclass('heads') IS NULL
      AND p.high - 1 <= (SELECT coalesce(f.filled_to, p.high) FROM filling f)
    ORDER BY p.high
    LIMIT 1;
    IF leaving IS NULL THEN
        RETURN 'nothing';
    END IF;
    UPDATE log_bounds SET copied_as_of = (SELECT max(r.revision) FROM revisions r) WHERE copied_as_of IS NULL;
    SELECT b.* INTO bounds FROM log_bounds b;
    SELECT * INTO batch FROM keep_superseded(leaving, past, bounds.copied, 0, 1000);
    IF batch.count = 1000 THEN
        UPDATE log_bounds SET copied = greatest(copied, batch.last) WHERE low < past;
        RETURN 'more';
    END IF;
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    -- Another server may have left it by the time the lock is there.
    PERFORM keep_superseded(leaving, past, 0, b.copied_as_of, 2000000000) FROM log_bounds b WHERE b.low < past;
    UPDATE log_bounds SET low = past, left_at = clock_timestamp(), copied_as_of = NULL, copied = 0 WHERE low < past;
    RETURN 'left';
END $$;
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION leave_partition() SET search_path = %I, pg_temp', current_schema());
END $$;

-- grant_server as it is, with the rights that filling takes.
DO $$
DECLARE
    before text := pg_get_functiondef('grant_server(name)'::regprocedure);
    last   text := '(''SELECT, INSERT, UPDATE, DELETE ON objects''),';
BEGIN
    IF position(last IN before) = 0 THEN
        RAISE EXCEPTION 'grant_server does not say which rights to objects a server has';
    END IF;
    EXECUTE replace(before, last, last || $more$
            ('SELECT, UPDATE ON filling'),$more$);
END $$;

COMMENT ON TABLE objects IS 'The live objects, one row each. For the bytes of all of them read current_objects.';
COMMENT ON COLUMN objects.object IS 'Without metadata.resourceVersion, which is the revision. Null, with encoded null as well: the log has it, in the row of this revision.';
COMMENT ON TABLE filling IS 'Which objects have their bytes, and how far the next are on the way to theirs.';
COMMENT ON VIEW objects_with_bytes IS 'The live objects, with their bytes wherever these are. For the other views: hides nothing.';
