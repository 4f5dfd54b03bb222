-- The log of all writes, its partitions, where history begins, and which history it is.

-- The log. Every write of the API appends one row, and the row's id is the resourceVersion.
--
-- Ids are drawn and committed under one lock (commit_order), so the order of ids is the order of commits and of the WAL, over any
-- number of servers. Aborted transactions leave gaps, which mean nothing.
CREATE TABLE revisions (
    revision          bigserial   PRIMARY KEY,
    api_group         text        COLLATE "C" NOT NULL,
    resource          text        COLLATE "C" NOT NULL,
    namespace         text        COLLATE "C" NOT NULL,
    name              text        COLLATE "C" NOT NULL,
    uid               text        COLLATE "C" NOT NULL,
    verb              text        COLLATE "C" NOT NULL CHECK (verb IN ('create', 'update', 'delete')),
    previous_revision bigint,
    object            json,
    encoded           bytea,
    media_type        text,
    committed_at      timestamptz NOT NULL,
    write_id          uuid        NOT NULL,
    expires_at        timestamptz,
    username          text        NOT NULL,
    user_agent        text        NOT NULL,
    source_address    text        NOT NULL,
    request_id        text        NOT NULL,
    field_manager     text        NOT NULL,
    follows_revision  bigint,
    CHECK ((object IS NULL) <> (encoded IS NULL))
) PARTITION BY RANGE (revision);

-- The history of one object, and the state of a resource at a revision (the newest row at or below it for each key).
CREATE INDEX revisions_by_object ON revisions (api_group, resource, namespace, name, revision DESC);
-- What a watch of one resource is replayed from.
CREATE INDEX revisions_by_resource ON revisions (resource, revision);
-- Questions by time.
CREATE INDEX revisions_by_time ON revisions USING brin (committed_at) WITH (autosummarize = on);

-- Objects stay in their row, whole, as far as a page takes them: putting a 5.5 kB pod out of line, in two chunks with an index entry
-- each, and together again for the replication stream, cost more than writing the bytes.
--
-- Where PostgreSQL was built with lz4, compressing costs little and halves the WAL, so rows over 4 kB are compressed. Otherwise there is
-- only pglz, at 16 µs a kB: 90 of the 250 µs that a pod cost the database. Objects are stored as they are then, and those beyond
-- a page out of line: a 60 kB object costs 0.9 ms instead of 2.1, and 65 kB of WAL instead of 14. Partitions and the table objects
-- follow what is set here.
DO $$
BEGIN
    ALTER TABLE revisions ALTER COLUMN object SET COMPRESSION lz4, ALTER COLUMN encoded SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN
    ALTER TABLE revisions ALTER COLUMN object SET STORAGE EXTERNAL, ALTER COLUMN encoded SET STORAGE EXTERNAL;
END $$;

COMMENT ON TABLE revisions IS 'The log: one row for every write. The id is the resourceVersion. Partitions behind the window are dropped.';
COMMENT ON COLUMN revisions.api_group IS 'API group, empty for the core group.';
COMMENT ON COLUMN revisions.namespace IS 'Empty for objects that are not namespaced.';
COMMENT ON COLUMN revisions.previous_revision IS 'The revision this one replaced; null for a create.';
COMMENT ON COLUMN revisions.object IS 'The object after the write, or before it for a delete. Without metadata.resourceVersion, which is the revision.';
COMMENT ON COLUMN revisions.encoded IS 'The object in the media type beside it, where it is not stored as JSON.';
COMMENT ON COLUMN revisions.media_type IS 'What encoded is: for what is encrypted, with the provider and the key that it was encrypted by.';
COMMENT ON COLUMN revisions.write_id IS 'Drawn by the server for each write, to find out what became of a commit whose answer was lost.';
COMMENT ON COLUMN revisions.request_id IS 'The audit id of the request.';
COMMENT ON COLUMN revisions.follows_revision IS 'The newest revision when the batch of this row was committed; null in rows from before it was kept.';

-- Watches tail inserts into the log and nothing else. Subscribers see one table, whatever the partitions. PostgreSQL 15 and newer
-- leave out who wrote, which is read in SQL alone.
CREATE PUBLICATION pg_apiserver_revisions FOR TABLE revisions WITH (publish = 'insert', publish_via_partition_root = true);
DO $$
BEGIN
    IF current_setting('server_version_num')::int >= 150000 THEN
        EXECUTE 'ALTER PUBLICATION pg_apiserver_revisions SET TABLE revisions (
            revision, api_group, resource, namespace, name, uid, verb, previous_revision, object, encoded, media_type,
            committed_at, write_id, follows_revision
        )';
    END IF;
END $$;

-- The ordering lock. A transaction that appends to the log holds this table EXCLUSIVE until its end; one that must know that every
-- commit so far is visible takes it in SHARE mode. A table, because the right to lock one can be denied: an advisory lock may
-- be taken by every role that may connect.
--
-- It is taken inside functions, each of which is one call, so no client that vanishes between two statements holds it.
CREATE TABLE commit_order ();

COMMENT ON TABLE commit_order IS 'Locked by whoever appends to the log: the order of ids is the order of commits. Always empty.';

-- How far history has been cut off, and how far back it is kept. One row. The window is one value for all servers: one that is started
-- with another, or with none, must not delete what others keep. While it is null, nothing is deleted.
CREATE TABLE compaction (
    only_row       boolean     PRIMARY KEY DEFAULT true CHECK (only_row),
    revision       bigint      NOT NULL,
    committed_at   timestamptz NOT NULL,
    compacted_at   timestamptz NOT NULL,
    history_window interval    CHECK (history_window >= '0')
);
INSERT INTO compaction (revision, committed_at, compacted_at) VALUES (0, '-infinity', now());

COMMENT ON TABLE compaction IS 'Superseded states at or below this revision are gone.';
COMMENT ON COLUMN compaction.committed_at IS 'When that revision was committed: moments before it are no longer known.';
COMMENT ON COLUMN compaction.history_window IS 'How far back history is kept. Servers set it from --history-window where that is given.';

-- Where the log begins and ends. What was written below `low` is gone from it, or is about to go: a commit that overwrites such a state
-- keeps it (superseded). There are partitions up to `high`. One row.
CREATE TABLE log_bounds (
    only_row boolean     PRIMARY KEY DEFAULT true CHECK (only_row),
    low      bigint      NOT NULL,
    high     bigint      NOT NULL,
    left_at  timestamptz NOT NULL,
    -- Of the partition that is being left: the newest revision when copying its states began, and the last state copied since.
    copied_as_of bigint,
    copied       bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 10);
INSERT INTO log_bounds (low, high, left_at) VALUES (0, 1, clock_timestamp());

COMMENT ON TABLE log_bounds IS 'Where the log begins and ends: below low is nothing, up to high there are partitions.';
COMMENT ON COLUMN log_bounds.left_at IS 'When low was raised.';

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

COMMENT ON TABLE superseded IS 'States that the log no longer has and the window still needs: from revision to before superseded_by.';

-- Histories. A promoted replica and a restored backup may lack commits that were acknowledged, and would give their revisions out again.
-- What begins then is a new epoch. It is named by the revision it begins after, which is beyond anything that was handed out
-- before. To clients, everything older is compacted; SQL still sees all rows.
CREATE TABLE epochs (
    epoch     bigint      PRIMARY KEY,
    -- Of PostgreSQL; null where it does not say.
    system_id text        COLLATE "C",
    timeline  text        COLLATE "C",
    began_at  timestamptz NOT NULL,
    reason    text        NOT NULL
);

COMMENT ON TABLE epochs IS 'Histories of the cluster: each begins after the revision that names it, when a failover or a restore may have lost commits.';

-- Neither function fails: a service may withhold what they ask, and then only the memory of servers shows lost commits.
CREATE FUNCTION database_timeline() RETURNS text LANGUAGE sql AS $$
    SELECT CASE WHEN NOT pg_is_in_recovery() THEN left(pg_walfile_name(pg_current_wal_lsn()), 8) END
$$;

CREATE FUNCTION database_system() RETURNS text LANGUAGE sql AS $$
    SELECT system_identifier::text FROM pg_control_system()
$$;

DO $$
BEGIN
    PERFORM database_timeline();
EXCEPTION WHEN feature_not_supported OR insufficient_privilege OR object_not_in_prerequisite_state THEN
    CREATE OR REPLACE FUNCTION database_timeline() RETURNS text LANGUAGE sql AS 'SELECT NULL::text';
END $$;
DO $$
BEGIN
    PERFORM database_system();
EXCEPTION WHEN feature_not_supported OR insufficient_privilege OR object_not_in_prerequisite_state THEN
    CREATE OR REPLACE FUNCTION database_system() RETURNS text LANGUAGE sql AS 'SELECT NULL::text';
END $$;

INSERT INTO epochs VALUES (0, database_system(), database_timeline(), clock_timestamp(), 'the schema was made');

-- The newest revision committed at or before a moment; null when the moment is older than the history that is kept.
--
-- Time rises with the revision, so the log is halved until the place is found: some thirty look-ups in the primary key instead of an
-- index on time that every write would pay for.
CREATE FUNCTION revision_at(moment timestamptz) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
    cut    compaction;
    low    bigint;
    high   bigint;
    middle bigint;
    probe  record;
BEGIN
    SELECT * INTO STRICT cut FROM compaction;
    IF moment < cut.committed_at THEN
        RETURN NULL;
    END IF;
    -- What is at or below `low` is not too new; what is above `high` is.
    low := cut.revision;
    SELECT coalesce(max(r.revision), low) INTO high FROM revisions r;
    WHILE low < high LOOP
        middle := low + (high - low + 1) / 2;
        SELECT r.revision, r.committed_at INTO probe
        FROM revisions r
        WHERE r.revision > low AND r.revision <= middle
        ORDER BY r.revision DESC
        LIMIT 1;
        IF NOT FOUND OR probe.committed_at <= moment THEN
            low := middle;
        ELSE
            high := probe.revision - 1;
        END IF;
    END LOOP;
    RETURN greatest(cut.revision, (SELECT max(r.revision) FROM revisions r WHERE r.revision <= low));
END $$;

-- The partitions, in their order. The first of an old database begins at null.
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

-- How many revisions the next partition has room for: as many as were written in the last eighth of the window. The log then has about
-- ten partitions, whatever is written and however far back it reaches. Each costs every plan over the log a little, and what is
-- left of the window in the oldest is kept for longer than was asked for.
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

-- Makes the partition that follows the last, so that revision `needed` has one. Returns where it ends. To be called with the ordering
-- lock held.
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
        'CREATE INDEX %I ON %I (previous_revision) INCLUDE (revision) WHERE previous_revision < %s',
        fresh || '_by_older_state', fresh, first
    );
    EXECUTE format('CREATE INDEX %I ON %I (namespace, revision)', fresh || '_by_namespace', fresh);
    EXECUTE format(
        'CREATE INDEX %I ON %I USING brin (request_id text_bloom_ops (n_distinct_per_range = 1000)) WITH (autosummarize = on)',
        fresh || '_by_recent_request', fresh
    );
    EXECUTE format('ALTER TABLE revisions ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)', fresh, first, past);
    UPDATE log_bounds SET high = past;
    RETURN past;
END $$;

-- Makes partitions ahead, until there is room for as much as the next one will take. Returns how many.
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

-- Finds no table of the caller's making: it acts with the rights of the owner, for servers that have none to tables.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION make_partition(bigint) SET search_path = %I, pg_temp', current_schema());
END $$;
REVOKE ALL ON FUNCTION make_partition(bigint) FROM PUBLIC;

SELECT make_partition(0);
SELECT make_partitions_ahead();
