-- beside: 22
-- in steps
--
-- The log becomes a table of partitions, and `objects` a table with the current states in it.
--
-- Nothing is copied and nothing waits long: the log of today is attached as the first partition, and heads becomes objects, whose
-- new columns 0032 fills. A database without a log begins with an empty partition instead.

-- Which revisions are in the first partition is checked while it is written to, so that nothing needs to be read when it is
-- attached. Its end is a thousand million beyond what there is: servers go on writing until then, however long that takes.
--
-- step
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = 'revisions'::regclass AND conname = 'revisions_end') THEN
        EXECUTE format(
            'ALTER TABLE revisions ADD CONSTRAINT revisions_end CHECK (revision < %s) NOT VALID',
            (SELECT greatest(max(r.revision), (SELECT max(e.epoch) FROM epochs e)) + 1000000000 FROM revisions r)
        );
    END IF;
END $$;

-- A new epoch that begins meanwhile may be beyond that end. Then the end goes, and this begins again.
CREATE OR REPLACE FUNCTION keep_epoch(seen bigint, seen_write uuid) RETURNS bigint
LANGUAGE plpgsql
SET lock_timeout = '10s'
AS $$
DECLARE
    doubt   text;
    present bigint;
    newest  bigint;
BEGIN
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    PERFORM assure_durability();
    SELECT max(e.epoch) INTO present FROM epochs e;
    doubt := doubt_history(seen, seen_write);
    IF doubt IS NULL THEN
        RETURN present;
    END IF;
    SELECT max(r.revision) INTO newest FROM revisions r;
    present := greatest(
        greatest(newest, present, seen) + 1000000000,
        floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
    );
    ALTER TABLE revisions DROP CONSTRAINT IF EXISTS revisions_end;
    PERFORM setval('revisions_revision_seq', present);
    INSERT INTO epochs VALUES (present, database_system(), database_timeline(), clock_timestamp(), doubt);
    RETURN present;
END $$;

-- step
ALTER TABLE revisions VALIDATE CONSTRAINT revisions_end;

-- step
LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
-- In the order in which readers take them.
LOCK TABLE heads, revisions IN ACCESS EXCLUSIVE MODE;

-- What reads them is made again below; who may read it stays. What people have built on it is theirs to move: it goes on working, on
-- a view by another name.
CREATE TEMPORARY TABLE readers ON COMMIT DROP AS
SELECT a.grantee, a.is_grantable
FROM pg_class c, aclexplode(c.relacl) a
WHERE c.oid = 'objects'::regclass AND a.privilege_type = 'SELECT' AND a.grantee <> c.relowner;
DROP VIEW objects_jsonb;
DO $$
BEGIN
    DROP VIEW objects;
EXCEPTION WHEN dependent_objects_still_exist THEN
    ALTER VIEW objects RENAME TO objects_view;
END $$;

ALTER TABLE heads RENAME TO objects;
ALTER INDEX heads_pkey RENAME TO objects_pkey;
ALTER INDEX heads_by_expiry RENAME TO objects_by_expiry;
ALTER TABLE objects
    ADD COLUMN object      json,
    ADD COLUMN encoded     bytea,
    ADD COLUMN media_type  text,
    ADD COLUMN modified_at timestamptz;

-- Objects stay in their row, as in the log, and for the same reasons.
DO $$
DECLARE
    of record;
BEGIN
    IF (SELECT attcompression FROM pg_attribute WHERE attrelid = 'revisions'::regclass AND attname = 'object') = 'l' THEN
        ALTER TABLE objects ALTER COLUMN object SET COMPRESSION lz4, ALTER COLUMN encoded SET COMPRESSION lz4;
        ALTER TABLE objects SET (toast_tuple_target = 4080);
    ELSE
        ALTER TABLE objects ALTER COLUMN object SET STORAGE EXTERNAL, ALTER COLUMN encoded SET STORAGE EXTERNAL;
        ALTER TABLE objects SET (toast_tuple_target = 8160);
    END IF;
    FOR of IN
        SELECT attname AS part FROM pg_attribute WHERE attrelid = 'objects'::regclass AND attnum > 0 AND NOT attisdropped
    LOOP
        EXECUTE format('ALTER TABLE objects ALTER COLUMN %I SET STATISTICS 10', of.part);
    END LOOP;
END $$;

-- What is overwritten here is dead at once. A small object is written beside its older state, which goes with the next write to
-- the page; room for that is what the fill factor leaves. Large ones leave a page each, which vacuum finds: it comes after
-- a fiftieth, not a fifth, and does not rest in between.
ALTER TABLE objects SET (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 500,
    autovacuum_vacuum_cost_delay = 0,
    toast.autovacuum_vacuum_scale_factor = 0.02,
    toast.autovacuum_vacuum_threshold = 500,
    toast.autovacuum_vacuum_cost_delay = 0
);

-- Where the log begins and ends. What was written below `low` is gone from it, or is about to go: who overwrites such a state keeps
-- it (superseded). There are partitions up to `high`. One row.
CREATE TABLE log_bounds (
    only_row boolean     PRIMARY KEY DEFAULT true CHECK (only_row),
    low      bigint      NOT NULL,
    high     bigint      NOT NULL,
    left_at  timestamptz NOT NULL,
    -- Of the partition that is being left: the newest revision when copying its states began, and the last state copied since.
    copied_as_of bigint,
    copied       bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 10);

-- States that the window still needs and the log no longer has: of objects that were not written for longer than it reaches back,
-- until what replaced them is older than the window itself.
CREATE TABLE superseded (
    revision      bigint      PRIMARY KEY,
    superseded_by bigint      NOT NULL,
    api_group     text        COLLATE "C" NOT NULL,
    resource      text        COLLATE "C" NOT NULL,
    namespace     text        COLLATE "C" NOT NULL,
    name          text        COLLATE "C" NOT NULL,
    uid           text        COLLATE "C" NOT NULL,
    object        json,
    encoded       bytea,
    media_type    text,
    committed_at  timestamptz NOT NULL,
    CHECK ((object IS NULL) <> (encoded IS NULL))
);
CREATE INDEX superseded_by_object ON superseded (api_group, resource, namespace, name, revision DESC);
CREATE INDEX superseded_by_successor ON superseded (superseded_by);

-- The first partition.
ALTER TABLE revisions RENAME TO revisions_before;
ALTER INDEX revisions_pkey RENAME TO revisions_before_pkey;
ALTER INDEX revisions_by_object RENAME TO revisions_before_by_object;
ALTER INDEX revisions_by_resource RENAME TO revisions_before_by_resource;
ALTER INDEX revisions_by_time RENAME TO revisions_before_by_time;

CREATE TABLE revisions (
    LIKE revisions_before INCLUDING DEFAULTS INCLUDING STORAGE INCLUDING COMPRESSION INCLUDING COMMENTS,
    PRIMARY KEY (revision),
    CONSTRAINT revisions_verb_check CHECK (verb IN ('create', 'update', 'delete')),
    CONSTRAINT revisions_check CHECK ((object IS NULL) <> (encoded IS NULL))
) PARTITION BY RANGE (revision);
ALTER SEQUENCE revisions_revision_seq OWNED BY revisions.revision;
CREATE INDEX revisions_by_object ON revisions (api_group, resource, namespace, name, revision DESC);
CREATE INDEX revisions_by_resource ON revisions (resource, revision);
CREATE INDEX revisions_by_time ON revisions USING brin (committed_at) WITH (autosummarize = on);

CREATE OR REPLACE VIEW history AS
SELECT
    revision,
    committed_at AS at,
    username AS who,
    verb,
    CASE WHEN api_group = '' THEN resource ELSE resource || '.' || api_group END AS what,
    namespace,
    name,
    field_manager AS manager,
    user_agent,
    source_address,
    request_id,
    previous_revision,
    object
FROM revisions;

DO $$
DECLARE
    first_end bigint;
BEGIN
    SELECT substring(pg_get_constraintdef(c.oid) FROM '< ''?(\d+)')::bigint INTO first_end
    FROM pg_constraint c
    WHERE c.conrelid = 'revisions_before'::regclass AND c.conname = 'revisions_end' AND c.convalidated;
    IF NOT EXISTS (SELECT FROM revisions_before) THEN
        DROP TABLE revisions_before;
        first_end := (SELECT last_value + CASE WHEN is_called THEN 1 ELSE 0 END FROM revisions_revision_seq);
    ELSIF first_end IS NULL THEN
        RAISE 'a new epoch has begun' USING ERRCODE = 'object_in_use';
    ELSE
        EXECUTE format('ALTER TABLE revisions ATTACH PARTITION revisions_before FOR VALUES FROM (MINVALUE) TO (%s)', first_end);
        ALTER TABLE revisions_before DROP CONSTRAINT revisions_end;
        PERFORM setval('revisions_revision_seq', first_end, false);
    END IF;
    INSERT INTO log_bounds (low, high, left_at) VALUES (0, first_end, clock_timestamp());
END $$;

-- Subscribers see one table, as before.
ALTER PUBLICATION pg_apiserver_revisions SET (publish_via_partition_root = true);
DO $$
DECLARE
    columns text := '';
BEGIN
    IF current_setting('server_version_num')::int >= 150000 THEN
        columns := '(revision, api_group, resource, namespace, name, uid, verb, previous_revision, object, committed_at,
            write_id, follows_revision)';
    END IF;
    EXECUTE format('ALTER PUBLICATION pg_apiserver_revisions SET TABLE revisions %s', columns);
END $$;

CREATE VIEW objects_jsonb AS
SELECT api_group, resource, namespace, name, uid, revision, as_jsonb(object) AS object, modified_at, expires_at
FROM objects;
DO $$
DECLARE
    reader record;
BEGIN
    IF to_regclass('objects_view') IS NOT NULL THEN
        CREATE OR REPLACE VIEW objects_view AS
        SELECT api_group, resource, namespace, name, uid, revision, object, modified_at, expires_at FROM objects;
    END IF;
    FOR reader IN
        SELECT CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END AS name,
            CASE WHEN is_grantable THEN 'WITH GRANT OPTION' ELSE '' END AS option
        FROM readers
    LOOP
        EXECUTE format('GRANT SELECT ON objects, objects_jsonb TO %s %s', reader.name, reader.option);
    END LOOP;
END $$;

-- heads, for servers of the version before, and for calls of theirs that wait for the lock now and go on in the functions of
-- before: they look for where a head lies, and do not write the object to it.
CREATE VIEW heads AS
SELECT api_group, resource, namespace, name, revision, uid, expires_at, ctid FROM objects;

CREATE FUNCTION write_head() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        DELETE FROM objects o WHERE o.ctid = OLD.ctid;
        RETURN OLD;
    ELSIF TG_OP = 'UPDATE' THEN
        UPDATE objects o
        SET revision = NEW.revision, uid = NEW.uid, expires_at = NEW.expires_at, object = r.object, encoded = r.encoded,
            media_type = r.media_type, modified_at = r.committed_at
        FROM revisions r
        WHERE o.ctid = OLD.ctid AND r.revision = NEW.revision;
    ELSE
        INSERT INTO objects (
            api_group, resource, namespace, name, revision, uid, expires_at, object, encoded, media_type, modified_at
        )
        SELECT NEW.api_group, NEW.resource, NEW.namespace, NEW.name, NEW.revision, NEW.uid, NEW.expires_at,
            r.object, r.encoded, r.media_type, r.committed_at
        FROM revisions r
        WHERE r.revision = NEW.revision;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER write_head INSTEAD OF INSERT OR UPDATE OR DELETE ON heads FOR EACH ROW EXECUTE FUNCTION write_head();

-- The partitions there are, in their order. The first begins at null.
CREATE FUNCTION log_partitions() RETURNS TABLE (partition regclass, low bigint, high bigint)
LANGUAGE sql STABLE AS $$
    SELECT c.oid::regclass,
        substring(b.bound FROM 'FROM \(''(\d+)''\)')::bigint,
        substring(b.bound FROM 'TO \(''(\d+)''\)')::bigint
    FROM pg_inherits i
    JOIN pg_class c ON c.oid = i.inhrelid
    CROSS JOIN LATERAL pg_get_expr(c.relpartbound, c.oid) AS b (bound)
    WHERE i.inhparent = 'revisions'::regclass
    ORDER BY 3
$$;

-- Makes the partition that follows the last, so that revision `needed` has one, and answers where it ends. To be called with the
-- ordering lock held.
--
-- It is as large as what was written in the last eighth of the window: the log then has about ten partitions, whatever is
-- written and however far back it reaches. Each costs every plan over the log a little, and what is left of the window in the
-- oldest is kept for longer than was asked for.
CREATE FUNCTION make_partition(needed bigint) RETURNS bigint
LANGUAGE plpgsql
SECURITY DEFINER
AS $$
DECLARE
    first  bigint;
    past   bigint;
    size   bigint;
    fresh  text;
    target int;
BEGIN
    SELECT b.high INTO STRICT first FROM log_bounds b;
    size := next_partition_size();
    past := greatest(first, needed) + size;
    fresh := format('revisions_%s', first);
    SELECT CASE a.attcompression WHEN 'l' THEN 4080 ELSE 8160 END INTO target
    FROM pg_attribute a
    WHERE a.attrelid = 'revisions'::regclass AND a.attname = 'object';
    EXECUTE format(
        'CREATE TABLE %I (
            LIKE revisions INCLUDING DEFAULTS INCLUDING STORAGE INCLUDING COMPRESSION INCLUDING CONSTRAINTS,
            CONSTRAINT revisions_follow CHECK (follows_revision IS NOT NULL)
        ) WITH (toast_tuple_target = %s)',
        fresh, target
    );
    EXECUTE (
        SELECT format('ALTER TABLE %I %s', fresh, string_agg(format('ALTER COLUMN %I SET STATISTICS 10', a.attname), ', '))
        FROM pg_attribute a
        WHERE a.attrelid = fresh::regclass AND a.attnum > 0 AND NOT a.attisdropped
    );
    -- What replaced a state of an older partition, for when that goes.
    EXECUTE format(
        'CREATE INDEX %I ON %I (previous_revision) WHERE previous_revision < %s',
        fresh || '_by_older_state', fresh, first
    );
    EXECUTE format('ALTER TABLE revisions ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)', fresh, first, past);
    UPDATE log_bounds SET high = past;
    RETURN past;
END $$;

CREATE FUNCTION next_partition_size() RETURNS bigint
LANGUAGE sql STABLE AS $$
    SELECT least(greatest(written.newest - written.before, 10000), 50000000)
    FROM (
        SELECT (SELECT max(r.revision) FROM revisions r) AS newest,
            greatest(
                revision_at(clock_timestamp() - coalesce(c.history_window, '5 minutes') / 8),
                c.revision,
                (SELECT max(e.epoch) FROM epochs e)
            ) AS before
        FROM compaction c
    ) written
$$;

-- Makes partitions ahead, until there is room for as much as the next one will take. Answers how many.
CREATE FUNCTION make_partitions_ahead() RETURNS integer
LANGUAGE plpgsql
SET lock_timeout = '2s'
AS $$
DECLARE
    made   integer := 0;
    newest bigint;
BEGIN
    SELECT greatest(max(r.revision), (SELECT last_value FROM revisions_revision_seq)) INTO newest FROM revisions r;
    IF (SELECT b.high FROM log_bounds b) >= newest + next_partition_size() THEN
        RETURN made;
    END IF;
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    WHILE (SELECT b.high FROM log_bounds b) < newest + next_partition_size() LOOP
        PERFORM make_partition(newest);
        made := made + 1;
    END LOOP;
    RETURN made;
END $$;

SELECT make_partition(0);
SELECT make_partitions_ahead();
