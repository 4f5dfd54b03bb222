-- beside: 34
--
-- Whose log it is after PostgreSQL was started again, or a standby was promoted. A copy of the data directory that is started says
-- nothing of being one, and a promoted standby may have all that was acknowledged. The servers know what they have seen, and vouch for
-- the log where it is now: then no history begins. Where one of them has seen what is not there, or none of them vouches, one does.

-- Where the log is: the timeline, and since when this PostgreSQL runs. Files can be put back only while it does not.
CREATE FUNCTION database_place() RETURNS text LANGUAGE sql STABLE AS $$
    SELECT coalesce(database_timeline(), '') || ' ' || extract(epoch FROM pg_postmaster_start_time())::text
$$;

-- One row: where the log was when it was last vouched for. `asked_at`: since when servers vouch for another place.
CREATE TABLE history_place (
    place    text        COLLATE "C" NOT NULL,
    asked_at timestamptz
);
INSERT INTO history_place VALUES (database_place());
COMMENT ON TABLE history_place IS 'The timeline and start of the PostgreSQL whose log the servers have vouched for.';

-- A server says every second that it lives. Those that had said so last, before the log was elsewhere, are asked to vouch for it there.
CREATE TABLE witnesses (
    server     uuid        PRIMARY KEY,
    place      text        COLLATE "C" NOT NULL,
    renewed_at timestamptz NOT NULL
) WITH (fillfactor = 50);
COMMENT ON TABLE witnesses IS 'Servers that know what the log had. place: the last that each has vouched for.';

-- Why the row of `seen` speaks against the log; null: it does not. As in doubt_history (0020).
CREATE FUNCTION doubt_row(seen bigint, seen_write uuid) RETURNS text
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    found uuid;
BEGIN
    IF seen IS NULL OR seen <= (SELECT max(e.epoch) FROM epochs e) OR seen <= (SELECT c.revision FROM compaction c) THEN
        RETURN NULL;
    END IF;
    SELECT r.write_id INTO found FROM revisions r WHERE r.revision = seen;
    IF found IS NULL THEN
        RETURN format('revision %s is gone', seen);
    ELSIF found <> seen_write THEN
        RETURN format('revision %s is another write', seen);
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION doubt_history(seen bigint, seen_write uuid) RETURNS text
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    present epochs;
BEGIN
    SELECT * INTO STRICT present FROM epochs ORDER BY epoch DESC LIMIT 1;
    IF present.system_id <> database_system() THEN
        RETURN 'the database was moved to another PostgreSQL system';
    ELSIF present.timeline <> database_timeline() THEN
        RETURN format('PostgreSQL went from timeline %s to %s', present.timeline, database_timeline());
    END IF;
    RETURN doubt_row(seen, seen_write);
END $$;

-- Begins an epoch beyond all numbers that were given out, and beyond `known`. Answers it. How far beyond, 0020 explains.
CREATE FUNCTION begin_epoch(why text, known bigint DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql
SET lock_timeout = '10s'
AS $$
DECLARE
    present bigint;
BEGIN
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    PERFORM assure_durability();
    present := greatest(
        greatest(
            (SELECT max(r.revision) FROM revisions r), (SELECT max(e.epoch) FROM epochs e),
            (SELECT s.last_value FROM revisions_revision_seq s), known
        ) + 1000000000,
        floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
    );
    PERFORM setval('revisions_revision_seq', present);
    INSERT INTO epochs VALUES (present, database_system(), database_timeline(), clock_timestamp(), why);
    UPDATE history_place SET place = database_place(), asked_at = NULL;
    RETURN present;
END $$;

-- Servers that lived when the log was last at the place that was vouched for, and have not vouched for the present one.
CREATE FUNCTION missing_witnesses() RETURNS SETOF uuid
LANGUAGE sql STABLE AS $$
    SELECT w.server
    FROM witnesses w
    WHERE w.place <> database_place() AND w.renewed_at > (SELECT max(l.renewed_at) FROM witnesses l) - interval '10 seconds'
$$;

-- Whether to wait for them. One that died with the primary is waited for ten seconds, from when the first has vouched; and where none
-- does, not at all.
CREATE FUNCTION awaits_witnesses() RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM missing_witnesses()) AND clock_timestamp() < coalesce(
        p.asked_at + interval '10 seconds', (SELECT max(w.renewed_at) FROM witnesses w) + interval '1 minute'
    )
    FROM history_place p
$$;

-- Begins an epoch when there is reason to. Answers the present one. Raises where servers have yet to vouch for a new timeline.
CREATE OR REPLACE FUNCTION keep_epoch(seen bigint, seen_write uuid) RETURNS bigint
LANGUAGE plpgsql
SET lock_timeout = '10s'
AS $$
DECLARE
    doubt   text;
    present epochs;
BEGIN
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    PERFORM assure_durability();
    SELECT * INTO STRICT present FROM epochs ORDER BY epoch DESC LIMIT 1;
    doubt := doubt_history(seen, seen_write);
    IF doubt IS NULL THEN
        RETURN present.epoch;
    ELSIF present.timeline <> database_timeline() AND doubt_row(seen, seen_write) IS NULL AND awaits_witnesses() THEN
        RAISE 'servers have yet to vouch for the log on timeline %', database_timeline() USING ERRCODE = 'serialization_failure';
    END IF;
    RETURN begin_epoch(doubt, seen);
END $$;

-- What a server knows of the log, held against it where it is now. `seen` and `seen_write` as in doubt_history; `shown`: the newest
-- revision that a client of the server may know. `has_lived`: it was connected before; otherwise it knows what its file says, or nothing.
-- Answers the present epoch, and whether others have yet to vouch; until then the log must not be used.
--
-- A new timeline is vouched for by all that lived, since each may know what was lost. After a start of PostgreSQL one that lived is
-- enough: the others hold their own against the log as well, and have not been served by anything else meanwhile.
CREATE FUNCTION vouch_history(
    witness uuid, seen bigint, seen_write uuid, shown bigint, has_lived boolean,
    OUT epoch bigint, OUT awaits boolean
)
LANGUAGE plpgsql
SET lock_timeout = '10s'
AS $$
DECLARE
    present epochs;
    here    text := database_place();
    there   text;
    doubt   text;
    moved   boolean;
    lived   boolean;
BEGIN
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    PERFORM assure_durability();
    SELECT * INTO STRICT present FROM epochs e ORDER BY e.epoch DESC LIMIT 1;
    SELECT p.place INTO STRICT there FROM history_place p;
    epoch := present.epoch;
    awaits := false;
    moved := coalesce(present.timeline <> database_timeline(), false);
    doubt := doubt_row(seen, seen_write);
    IF doubt IS NULL AND shown > present.epoch AND shown > (SELECT c.revision FROM compaction c)
        AND NOT EXISTS (SELECT FROM revisions r WHERE r.revision >= shown) THEN
        doubt := format('revision %s is gone', shown);
    END IF;
    IF moved AND doubt IS NOT NULL OR present.system_id <> database_system() THEN
        doubt := doubt_history(NULL, NULL);
    END IF;
    IF doubt IS NOT NULL THEN
        epoch := begin_epoch(doubt, greatest(seen, shown));
        RETURN;
    ELSIF there = here THEN
        RETURN;
    END IF;
    lived := EXISTS (SELECT FROM witnesses);
    -- Of one that was killed, the file lacks the last second, which a promotion may have lost.
    UPDATE witnesses w SET place = here WHERE w.server = witness AND (has_lived OR NOT moved);
    IF NOT moved AND (has_lived OR seen IS NOT NULL AND NOT EXISTS (SELECT FROM missing_witnesses()))
        OR lived AND NOT EXISTS (SELECT FROM missing_witnesses()) THEN
        UPDATE epochs e SET timeline = database_timeline() WHERE e.epoch = present.epoch AND moved;
        UPDATE history_place SET place = here, asked_at = NULL;
        RETURN;
    END IF;
    UPDATE history_place SET asked_at = clock_timestamp() WHERE asked_at IS NULL;
    IF awaits_witnesses() THEN
        awaits := true;
        RETURN;
    END IF;
    epoch := begin_epoch(
        coalesce(doubt_history(NULL, NULL), 'PostgreSQL was started again, and no server vouches for its history'), NULL
    );
END $$;

-- A server says that it lives.
CREATE FUNCTION renew_witness(witness uuid) RETURNS void
LANGUAGE plpgsql
SET lock_timeout = '2s'
AS $$
BEGIN
    PERFORM assure_durability();
    INSERT INTO witnesses AS w SELECT witness, p.place, clock_timestamp() FROM history_place p
    ON CONFLICT (server) DO UPDATE SET place = excluded.place, renewed_at = excluded.renewed_at;
    DELETE FROM witnesses w WHERE w.renewed_at < clock_timestamp() - interval '1 hour';
END $$;
