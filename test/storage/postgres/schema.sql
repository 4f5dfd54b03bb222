-- The schema after all migrations, written by schema.test.ts from PostgreSQL's catalogs. It is read, and never run: no one migration has
-- the current text of what later ones replaced. After a change of migrations write it anew:
--
--     npx vitest run --config test/vitest.config.ts --project systems test/storage/postgres/schema.test.ts -u


-- ==================== Sequences

CREATE SEQUENCE revisions_revision_seq AS bigint OWNED BY revisions.revision;

CREATE SEQUENCE signing_keys_id_seq AS bigint OWNED BY signing_keys.id;


-- ==================== Tables

-- Values that one object of the cluster holds at a time: cluster IPs, node ports.
CREATE TABLE allocations (
    -- IPv4, IPv6 or NodePort.
    pool text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    api_group text COLLATE "C" NOT NULL,
    resource text COLLATE "C" NOT NULL,
    namespace text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    allocated_at timestamp with time zone NOT NULL,
    CONSTRAINT allocations_pkey PRIMARY KEY (pool, value)
);

-- The move that brought the resource of this database. Until arrived_at is set, the resource is served from elsewhere.
CREATE TABLE arrival (
    only_row boolean NOT NULL DEFAULT true,
    move uuid NOT NULL,
    api_group text COLLATE "C" NOT NULL,
    resource text COLLATE "C" NOT NULL,
    attempt integer NOT NULL DEFAULT 1,
    copied_to bigint,
    arrived_at bigint,
    CONSTRAINT arrival_pkey PRIMARY KEY (only_row),
    CONSTRAINT arrival_only_row_check CHECK (only_row)
);

CREATE TABLE cluster_keys (
    name text COLLATE "C" NOT NULL,
    certificate text NOT NULL,
    -- PEM, PKCS #8; where Secrets are encrypted, that, encrypted as they are.
    private_key text NOT NULL,
    made_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT cluster_keys_pkey PRIMARY KEY (name)
);

-- All that append to the log lock it: the order of ids is the order of commits. Always empty.
CREATE TABLE commit_order (
);

-- Superseded states at or below this revision are gone.
CREATE TABLE compaction (
    only_row boolean NOT NULL DEFAULT true,
    revision bigint NOT NULL,
    -- When that revision was committed: moments before it are no longer known.
    committed_at timestamp with time zone NOT NULL,
    compacted_at timestamp with time zone NOT NULL,
    -- How far back history is kept. Servers set it from --history-window where that is given.
    history_window interval,
    -- Resources with a shorter history, as resource or resource.group: {"window": seconds, "revision": superseded states
    -- of it at or below this are gone, "thinned": rows of it below this were removed}.
    shorter jsonb NOT NULL DEFAULT '{}'::jsonb,
    -- Up to this revision the log may lack rows of resources with a shorter history.
    thinned bigint NOT NULL DEFAULT 0,
    -- No server is left that knows nothing of shorter histories.
    thins boolean NOT NULL DEFAULT false,
    CONSTRAINT compaction_pkey PRIMARY KEY (only_row),
    CONSTRAINT compaction_history_window_check CHECK (history_window >= '00:00:00'::interval),
    CONSTRAINT compaction_only_row_check CHECK (only_row)
);

-- Histories of the cluster: each begins after the revision that names it, when a failover or a restore may have lost
-- commits.
CREATE TABLE epochs (
    epoch bigint NOT NULL,
    system_id text COLLATE "C",
    timeline text COLLATE "C",
    began_at timestamp with time zone NOT NULL,
    reason text NOT NULL,
    CONSTRAINT epochs_pkey PRIMARY KEY (epoch)
);

-- Which objects have their bytes, and how far the next are on the way to theirs.
CREATE TABLE filling (
    only_row boolean NOT NULL DEFAULT true,
    -- All objects that were last written up to this revision have their bytes.
    filled_to bigint,
    filled_at timestamp with time zone NOT NULL,
    -- The end of the walk along the log that is under way; null between two.
    up_to bigint,
    -- The next objects to be filled, by their revisions.
    due bigint[] NOT NULL DEFAULT '{}'::bigint[],
    -- The last revision that this walk has looked at.
    passed_to bigint NOT NULL DEFAULT 0,
    -- How many rows of the log all walks have looked at.
    passed bigint NOT NULL DEFAULT 0,
    -- How many objects they have filled.
    filled bigint NOT NULL DEFAULT 0,
    CONSTRAINT filling_pkey PRIMARY KEY (only_row),
    CONSTRAINT filling_only_row_check CHECK (only_row)
) WITH (fillfactor=10);

-- The timeline and start of the PostgreSQL whose log the servers have vouched for.
CREATE TABLE history_place (
    place text COLLATE "C" NOT NULL,
    asked_at timestamp with time zone
);

-- The partitions of revisions that nothing asks for any more, by their upper bounds, and since when.
CREATE TABLE left_partitions (
    high bigint NOT NULL,
    left_at timestamp with time zone NOT NULL,
    CONSTRAINT left_partitions_pkey PRIMARY KEY (high)
);

-- Where the log begins and ends: below low is nothing, up to high there are partitions.
CREATE TABLE log_bounds (
    only_row boolean NOT NULL DEFAULT true,
    low bigint NOT NULL,
    high bigint NOT NULL,
    -- When low was raised.
    left_at timestamp with time zone NOT NULL,
    -- Of the partition that is being left: the last state that was kept.
    copied bigint NOT NULL DEFAULT 0,
    -- Commits keep what they replace of states below this, as the log is about to lose them.
    noted bigint NOT NULL DEFAULT 0,
    -- Names of resources for which commits look into the table moves.
    closed text[] NOT NULL DEFAULT '{}'::text[],
    CONSTRAINT log_bounds_pkey PRIMARY KEY (only_row),
    CONSTRAINT log_bounds_only_row_check CHECK (only_row)
) WITH (fillfactor=10);

CREATE TABLE move_servers (
    move uuid NOT NULL,
    server uuid NOT NULL,
    -- Why the server cannot use the database of the resource; empty when it can.
    trouble text NOT NULL,
    moved boolean NOT NULL,
    CONSTRAINT move_servers_pkey PRIMARY KEY (move, server),
    CONSTRAINT move_servers_move_fkey FOREIGN KEY (move) REFERENCES moves(move) ON DELETE CASCADE
);

-- Resources that have a database of their own since the revision moved_at, or are being copied into one.
CREATE TABLE moves (
    move uuid NOT NULL,
    api_group text COLLATE "C" NOT NULL,
    resource text COLLATE "C" NOT NULL,
    -- Its URLs, separated by commas; where Secrets are encrypted, encrypted as they are.
    target text NOT NULL,
    began_at timestamp with time zone NOT NULL DEFAULT now(),
    closed_until timestamp with time zone,
    closed_at bigint,
    moved_at bigint,
    CONSTRAINT moves_pkey PRIMARY KEY (move),
    CONSTRAINT moves_api_group_resource_key UNIQUE (api_group, resource)
);

-- The live objects, one row each. For the bytes of all of them read current_objects.
CREATE TABLE objects (
    api_group text COLLATE "C" NOT NULL,
    resource text COLLATE "C" NOT NULL,
    namespace text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    -- Of its last write: the resourceVersion.
    revision bigint NOT NULL,
    uid text COLLATE "C" NOT NULL,
    expires_at timestamp with time zone,
    -- Without metadata.resourceVersion, which is the revision. Null, with encoded null as well: the log has it, in the row
    -- of this revision.
    object json STORAGE EXTERNAL,
    -- The object in the media type beside it, where it is not stored as JSON.
    encoded bytea STORAGE EXTERNAL,
    -- What encoded is: for what is encrypted, with the provider and the key that it was encrypted by.
    media_type text,
    -- When its last write was committed.
    modified_at timestamp with time zone NOT NULL,
    CONSTRAINT objects_pkey PRIMARY KEY (api_group, resource, namespace, name),
    CONSTRAINT objects_check CHECK (object IS NULL OR encoded IS NULL)
) WITH (
    autovacuum_vacuum_cost_delay=0,
    autovacuum_vacuum_scale_factor=0.02,
    autovacuum_vacuum_threshold=500,
    fillfactor=70,
    toast.autovacuum_vacuum_cost_delay=0,
    toast.autovacuum_vacuum_scale_factor=0.02,
    toast.autovacuum_vacuum_threshold=500,
    toast_tuple_target=8160
);
-- STATISTICS 10: all columns.

-- Servers that hand requests to each other. resources: what each has built in, as group/version/resource.
CREATE TABLE peers (
    server text COLLATE "C" NOT NULL,
    address text NOT NULL,
    port integer NOT NULL,
    resources text[] NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT peers_pkey PRIMARY KEY (server)
);

-- The log: one row for every write. The id is the resourceVersion. Partitions behind the window are dropped.
CREATE TABLE revisions (
    revision bigint NOT NULL DEFAULT nextval('revisions_revision_seq'::regclass),
    -- API group, empty for the core group.
    api_group text COLLATE "C" NOT NULL,
    resource text COLLATE "C" NOT NULL,
    -- Empty for objects that are not namespaced.
    namespace text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    uid text COLLATE "C" NOT NULL,
    verb text COLLATE "C" NOT NULL,
    -- The revision this one replaced; null for a create.
    previous_revision bigint,
    -- The object after the write, or before it for a delete. Without metadata.resourceVersion, which is the revision.
    object json STORAGE EXTERNAL,
    -- The object in the media type beside it, where it is not stored as JSON.
    encoded bytea STORAGE EXTERNAL,
    -- What encoded is: for what is encrypted, with the provider and the key that it was encrypted by.
    media_type text,
    committed_at timestamp with time zone NOT NULL,
    -- Drawn by the server for each write, to find out what became of a commit whose answer was lost.
    write_id uuid NOT NULL,
    expires_at timestamp with time zone,
    username text NOT NULL,
    user_agent text NOT NULL,
    source_address text NOT NULL,
    -- The audit id of the request.
    request_id text NOT NULL,
    field_manager text NOT NULL,
    -- The newest revision when the batch of this row was committed; null in rows from before it was kept.
    follows_revision bigint,
    CONSTRAINT revisions_pkey PRIMARY KEY (revision),
    CONSTRAINT revisions_check CHECK ((object IS NULL) <> (encoded IS NULL)),
    CONSTRAINT revisions_verb_check CHECK (verb = ANY (ARRAY['create'::text, 'update'::text, 'delete'::text]))
) PARTITION BY RANGE (revision);

CREATE TABLE schema_migrations (
    id integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone NOT NULL DEFAULT now(),
    beside integer,
    CONSTRAINT schema_migrations_pkey PRIMARY KEY (id)
);

CREATE TABLE server_leases (
    address text COLLATE "C" NOT NULL,
    port integer NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT server_leases_pkey PRIMARY KEY (address, port)
) WITH (fillfactor=50);

CREATE TABLE signing_keys (
    id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    -- PEM, PKCS #8; where Secrets are encrypted, that, encrypted as they are.
    private_key text NOT NULL,
    made_at timestamp with time zone NOT NULL DEFAULT now(),
    signs_from timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT signing_keys_pkey PRIMARY KEY (id)
);

-- States that the log no longer has and the window still needs: from revision to before superseded_by.
CREATE TABLE superseded (
    revision bigint NOT NULL,
    superseded_by bigint NOT NULL,
    api_group text COLLATE "C" NOT NULL,
    resource text COLLATE "C" NOT NULL,
    namespace text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    uid text COLLATE "C" NOT NULL,
    object json,
    encoded bytea,
    media_type text,
    committed_at timestamp with time zone NOT NULL,
    CONSTRAINT superseded_pkey PRIMARY KEY (revision),
    CONSTRAINT superseded_check CHECK ((object IS NULL) <> (encoded IS NULL))
);

-- The copy of a partition, without the old rows of resources with a shorter history, that is to take its place.
CREATE TABLE thinning (
    high bigint NOT NULL,
    partition regclass NOT NULL,
    copy regclass NOT NULL,
    waits_for text[],
    CONSTRAINT thinning_pkey PRIMARY KEY (high)
);

-- Servers that know what the log had. place: the last that each has vouched for.
CREATE TABLE witnesses (
    server uuid NOT NULL,
    place text COLLATE "C" NOT NULL,
    renewed_at timestamp with time zone NOT NULL,
    CONSTRAINT witnesses_pkey PRIMARY KEY (server)
) WITH (fillfactor=50);

-- Work that one server does at a time. While the holder is empty, the first server that asks takes it.
CREATE TABLE work_leases (
    work text COLLATE "C" NOT NULL,
    holder text NOT NULL,
    renewals bigint NOT NULL,
    renewed_at timestamp with time zone NOT NULL,
    CONSTRAINT work_leases_pkey PRIMARY KEY (work)
) WITH (fillfactor=50);


-- ==================== Indexes

CREATE INDEX allocations_by_holder ON allocations USING btree (api_group, resource, namespace, name);
CREATE INDEX objects_by_expiry ON objects USING btree (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX revisions_by_object ON ONLY revisions USING btree (api_group, resource, namespace, name, revision DESC);
CREATE INDEX revisions_by_resource ON ONLY revisions USING btree (resource, revision);
CREATE INDEX revisions_by_time ON ONLY revisions USING brin (committed_at) WITH (autosummarize='on');
CREATE INDEX superseded_by_object ON superseded USING btree (api_group, resource, namespace, name, revision DESC);
CREATE INDEX superseded_by_successor ON superseded USING btree (superseded_by);


-- ==================== A partition, as make_partition makes it: from LOW to before HIGH

CREATE TABLE revisions_LOW PARTITION OF revisions (
    CONSTRAINT revisions_follow CHECK (follows_revision IS NOT NULL)
) FOR VALUES FROM (LOW) TO (HIGH) WITH (toast_tuple_target=8160);
-- STATISTICS 10: all columns.
CREATE INDEX revisions_LOW_by_namespace ON revisions_LOW USING btree (namespace, revision);
CREATE INDEX revisions_LOW_by_older_state ON revisions_LOW USING btree (previous_revision) INCLUDE (revision) WHERE previous_revision < LOW;
CREATE INDEX revisions_LOW_by_recent_request ON revisions_LOW USING brin (request_id text_bloom_ops (n_distinct_per_range='1000')) WITH (autosummarize='on');


-- ==================== Functions, by name

CREATE FUNCTION arrive(the_move uuid, cut bigint)
 RETURNS integer
 LANGUAGE plpgsql
 SET lock_timeout TO '10s'
AS $function$
DECLARE
    present arrival;
BEGIN
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    PERFORM assure_durability();
    SELECT a.* INTO present FROM arrival a;
    IF present.move IS DISTINCT FROM the_move OR present.copied_to IS NULL THEN
        RAISE 'the move % has not led here', the_move;
    END IF;
    IF present.arrived_at IS NULL THEN
        -- The revision of the row below: what clients know of the resource is no newer, and what is written here is.
        PERFORM setval('revisions_revision_seq', cut - 1);
        PERFORM tell_of_move(the_move, present.api_group, present.resource, 'Arrived');
        UPDATE arrival SET arrived_at = cut;
    END IF;
    RETURN present.attempt;
END $function$;

CREATE FUNCTION as_jsonb(object json)
 RETURNS jsonb
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
BEGIN
    RETURN object::pg_catalog.jsonb;
EXCEPTION WHEN untranslatable_character OR invalid_text_representation THEN
    RETURN pg_catalog.regexp_replace(
        object::pg_catalog.text, E'\\\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})', E'\\\\ufffd', 'g'
    )::pg_catalog.jsonb;
END $function$;

CREATE FUNCTION assert_arriving(the_move uuid)
 RETURNS void
 LANGUAGE plpgsql
 SET lock_timeout TO '10s'
AS $function$
BEGIN
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    IF NOT EXISTS (SELECT FROM arrival a WHERE a.move = the_move AND a.arrived_at IS NULL) THEN
        RAISE 'the move % is not under way here', the_move;
    END IF;
END $function$;

CREATE FUNCTION assert_in_history(at bigint)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
AS $function$
DECLARE
    oldest bigint;
BEGIN
    SELECT revision INTO STRICT oldest FROM compaction;
    IF at IS NULL OR at < oldest THEN
        RAISE EXCEPTION 'revision % is older than the history that is kept', coalesce(at::text, '(none)')
            USING HINT = format('Ask for revision %s or later, or run the servers with a longer --history-window.', oldest);
    END IF;
    RETURN at;
END $function$;

CREATE FUNCTION assert_in_history(at bigint, of_group text, of_resource text)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
AS $function$
DECLARE
    oldest bigint := compacted_revision(of_group, of_resource);
BEGIN
    IF at IS NULL OR at < oldest THEN
        RAISE EXCEPTION 'revision % is older than the history that is kept of %', coalesce(at::text, '(none)'), of_resource
            USING HINT = format(
                'Ask for revision %s or later, or run the servers with a longer --history-window, for %s by name if it has one of its own.',
                oldest, of_resource
            );
    END IF;
    RETURN at;
END $function$;

CREATE FUNCTION assure_durability()
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
    IF current_setting('synchronous_commit') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    IF current_setting('client_min_messages') = 'error' THEN
        PERFORM set_config('client_min_messages', 'warning', true);
    END IF;
END $function$;

-- From now on commits notify the channel that this answers, until the session ends.
CREATE FUNCTION await_commit_bell()
 RETURNS text
 LANGUAGE sql
AS $function$
    SELECT pg_advisory_lock_shared('commit_order'::regclass::oid::int, hashtext('pg-apiserver polls'));
    SELECT 'pg_apiserver_commits_' || 'commit_order'::regclass::oid
$function$;

CREATE FUNCTION await_commits()
 RETURNS void
 LANGUAGE plpgsql
 SET lock_timeout TO '10s'
AS $function$
BEGIN
    LOCK TABLE ONLY commit_order IN SHARE MODE;
END $function$;

CREATE FUNCTION awaits_witnesses()
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
    SELECT EXISTS (SELECT FROM missing_witnesses()) AND clock_timestamp() < coalesce(
        p.asked_at + interval '10 seconds', (SELECT max(w.renewed_at) FROM witnesses w) + interval '1 minute'
    )
    FROM history_place p
$function$;

CREATE FUNCTION begin_arrival(the_move uuid, of_group text, of_resource text, left_at json, from_revision bigint, up_to bigint)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET lock_timeout TO '10s'
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    present arrival;
    old     regclass;
BEGIN
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    SELECT a.* INTO present FROM arrival a;
    IF present.move <> the_move OR present.arrived_at IS NOT NULL OR present.move IS NULL AND (
        EXISTS (SELECT FROM revisions) OR EXISTS (SELECT FROM objects)
    ) THEN
        RAISE 'there are objects in this database already' USING HINT = 'A resource that is moved needs an empty database of its own.';
    END IF;
    TRUNCATE revisions, objects, superseded, left_partitions;
    FOR old IN SELECT p.partition FROM log_partitions() p LOOP
        EXECUTE format('DROP TABLE %s', old);
    END LOOP;
    UPDATE log_bounds
    SET low = from_revision, high = greatest(from_revision, 1), left_at = clock_timestamp(), noted = from_revision, copied = 0;
    PERFORM make_partition(up_to);
    UPDATE compaction c
    SET revision = k.revision, committed_at = k.committed_at, history_window = k.history_window, shorter = k.shorter,
        thinned = k.thinned, thins = k.thins
    FROM json_populate_record(NULL::compaction, begin_arrival.left_at) k;
    UPDATE filling SET filled_to = greatest(from_revision - 1, 0), up_to = NULL, passed_to = 0, due = '{}';
    INSERT INTO arrival (move, api_group, resource) VALUES (the_move, of_group, of_resource)
    ON CONFLICT (only_row) DO UPDATE SET copied_to = NULL, attempt = arrival.attempt + 1;
END $function$;

CREATE FUNCTION begin_epoch(why text, known bigint DEFAULT NULL::bigint)
 RETURNS bigint
 LANGUAGE plpgsql
 SET lock_timeout TO '10s'
AS $function$
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
END $function$;

CREATE FUNCTION begin_move(of_group text, of_resource text, to_target text)
 RETURNS moves
 LANGUAGE plpgsql
 SET lock_timeout TO '10s'
AS $function$
DECLARE
    present moves;
BEGIN
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    PERFORM assure_durability();
    SELECT m.* INTO present FROM moves m WHERE m.api_group = of_group AND m.resource = of_resource;
    IF NOT FOUND THEN
        INSERT INTO moves (move, api_group, resource, target) VALUES (gen_random_uuid(), of_group, of_resource, to_target)
        RETURNING * INTO present;
        PERFORM tell_of_move(present.move, of_group, of_resource, 'Copying');
    END IF;
    RETURN present;
END $function$;

CREATE FUNCTION beyond_history(at bigint)
 RETURNS text[]
 LANGUAGE plpgsql
 STABLE
AS $function$
DECLARE
    names  text[];
    oldest bigint;
BEGIN
    SELECT coalesce(array_agg(s.key ORDER BY s.key), '{}'), max((s.value ->> 'revision')::bigint) INTO names, oldest
    FROM compaction c, jsonb_each(c.shorter) s
    WHERE (s.value ->> 'revision')::bigint > at;
    IF names <> '{}' THEN
        RAISE NOTICE 'left out: %, whose shorter history does not reach back to revision %', array_to_string(names, ', '), at
            USING HINT = format('Ask for revision %s or later to see them.', oldest);
    END IF;
    RETURN names;
END $function$;

-- Who set each field of a live object, and when. Null: before the history that is kept.
CREATE FUNCTION blame_of(of_group text, of_resource text, of_namespace text, of_name text)
 RETURNS TABLE(path text, value jsonb, revision bigint, at timestamp with time zone, who text, manager text)
 LANGUAGE sql
 STABLE ROWS 50
 SET jit TO 'off'
 SET work_mem TO '64MB'
AS $function$
    WITH leaves AS MATERIALIZED (
        SELECT l.path, l.value
        FROM current_objects o
        CROSS JOIN LATERAL leaves_of(as_jsonb(o.object)) l
        WHERE o.api_group = of_group AND o.resource = of_resource AND o.namespace = of_namespace AND o.name = of_name
    ), states AS MATERIALIZED (
        SELECT h.revision, h.at, h.who, h.manager, h.verb, h.previous_revision, as_jsonb(h.object) AS object
        FROM history h
        WHERE h.api_group = of_group AND h.resource = of_resource AND h.namespace = of_namespace AND h.name = of_name
    ), pairs AS (
        SELECT
            s.revision, s.verb, s.previous_revision, s.object,
            lag(s.revision) OVER log AS last_revision, lag(s.object) OVER log AS last_object
        FROM states s
        WINDOW log AS (ORDER BY s.revision)
    ), made AS (
        SELECT c.path, max(p.revision) AS revision
        FROM pairs p
        -- A state that the log has elsewhere, or no more. Apart, because a function whose arguments are queries is called row by row.
        LEFT JOIN LATERAL (
            SELECT as_jsonb(b.object) AS object FROM (
                SELECT e.object FROM history e WHERE e.revision = p.previous_revision
                UNION ALL
                SELECT e.object FROM superseded_objects e WHERE e.revision = p.previous_revision
            ) b
            WHERE p.previous_revision IS DISTINCT FROM p.last_revision
            LIMIT 1
        ) k ON true
        CROSS JOIN LATERAL changes_between(
            CASE WHEN p.previous_revision = p.last_revision THEN p.last_object ELSE k.object END,
            CASE WHEN p.verb <> 'delete' THEN p.object END
        ) c
        GROUP BY c.path
    ), set_by AS (
        SELECT l.path, max(m.revision) AS revision
        FROM leaves l
        CROSS JOIN LATERAL generate_series(1, length(l.path) + 1) AS g (place)
        JOIN made m ON m.path = left(l.path, g.place - 1)
        WHERE g.place IN (1, length(l.path) + 1) OR substr(l.path, g.place, 1) IN ('.', '[')
        GROUP BY l.path
    )
    SELECT l.path, l.value, s.revision, s.at, s.who, s.manager
    FROM leaves l
    LEFT JOIN set_by b ON b.path = l.path
    LEFT JOIN states s ON s.revision = b.revision
    ORDER BY l.path
$function$;

CREATE FUNCTION cancel_move(the_move uuid)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET lock_timeout TO '10s'
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    given_up moves;
BEGIN
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    PERFORM assure_durability();
    DELETE FROM moves m WHERE m.move = the_move AND m.moved_at IS NULL RETURNING m.* INTO given_up;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE log_bounds SET closed = array_remove(closed, given_up.resource)
    WHERE given_up.resource NOT IN (SELECT m.resource FROM moves m);
    PERFORM tell_of_move(the_move, given_up.api_group, given_up.resource, 'Cancelled');
    RETURN true;
END $function$;

-- Which data of a Secret changed, without saying from what to what.
CREATE FUNCTION changed_data(before json, after json)
 RETURNS SETOF text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT ROWS 2
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET standard_conforming_strings TO 'on'
 SET debug_print_parse TO 'off'
 SET debug_print_rewritten TO 'off'
 SET debug_print_plan TO 'off'
AS $function$
BEGIN
    RETURN QUERY
    SELECT CASE
        WHEN key ~ '^[A-Za-z_][A-Za-z0-9_-]*$'::text THEN 'data.'::text || key
        ELSE 'data['::text || to_json(key)::text || ']'::text
    END
    FROM jsonb_each(coalesce(before::jsonb -> 'data'::text, '{}'::jsonb)) b
    FULL JOIN jsonb_each(coalesce(after::jsonb -> 'data'::text, '{}'::jsonb)) a USING (key)
    WHERE b.value IS DISTINCT FROM a.value;
EXCEPTION WHEN OTHERS THEN
    RETURN NEXT 'data'::text;
END $function$;

-- The fields in which two states of an object differ.
CREATE FUNCTION changes_between(before jsonb, after jsonb)
 RETURNS TABLE(path text, old jsonb, new jsonb)
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE ROWS 5
AS $function$
    WITH RECURSIVE walk AS (
        SELECT '' AS path, w.was, w.becomes, has_parts(w.was) AND has_parts(w.becomes) AS goes_on
        -- Apart, because the planner would put what is compared into the place of each use.
        FROM (SELECT before AS was, after AS becomes OFFSET 0) w
        WHERE w.was IS DISTINCT FROM w.becomes
        UNION ALL
        SELECT
            p.path, p.was, p.becomes,
            jsonb_typeof(p.was) = jsonb_typeof(p.becomes) AND has_parts(p.was) AND has_parts(p.becomes)
        FROM walk w
        CROSS JOIN LATERAL (
            SELECT path_of(w.path, a.key) AS path, a.was, a.becomes
            FROM (
                SELECT
                    f.key,
                    CASE WHEN w.path = '' AND f.key = 'metadata' AND jsonb_typeof(w.was -> f.key) = 'object'
                        THEN (w.was -> f.key) - 'managedFields' ELSE w.was -> f.key END AS was,
                    CASE WHEN w.path = '' AND f.key = 'metadata' AND jsonb_typeof(f.value) = 'object'
                        THEN f.value - 'managedFields' ELSE f.value END AS becomes
                FROM jsonb_each(CASE WHEN jsonb_typeof(w.becomes) = 'object' THEN w.becomes END) f
            ) a
            WHERE a.was IS DISTINCT FROM a.becomes
            UNION ALL
            SELECT
                path_of(w.path, b.key),
                CASE WHEN w.path = '' AND b.key = 'metadata' AND jsonb_typeof(b.value) = 'object'
                    THEN b.value - 'managedFields' ELSE b.value END,
                NULL
            FROM jsonb_each(CASE WHEN jsonb_typeof(w.was) = 'object' THEN w.was END) b
            WHERE NOT w.becomes ? b.key
            UNION ALL
            SELECT l.path, l.was, l.becomes
            FROM (SELECT keys_of(w.was, w.becomes) AS keys WHERE jsonb_typeof(w.was) = 'array' OFFSET 0) k
            CROSS JOIN LATERAL (
                SELECT path, b.part AS was, a.part AS becomes
                FROM parts_of(w.path, w.was, k.keys) b
                FULL JOIN parts_of(w.path, w.becomes, k.keys) a USING (path)
                WHERE b.part IS DISTINCT FROM a.part
            ) l
        ) p
        WHERE w.goes_on
    )
    SELECT
        w.path,
        CASE w.path WHEN '' THEN w.was #- '{metadata,managedFields}' ELSE w.was END,
        CASE w.path WHEN '' THEN w.becomes #- '{metadata,managedFields}' ELSE w.becomes END
    FROM walk w
    WHERE w.goes_on IS NOT TRUE
$function$;

-- The changes of one object (group, resource, namespace, name), oldest first.
CREATE FUNCTION changes_of(of_group text, of_resource text, of_namespace text, of_name text)
 RETURNS TABLE(revision bigint, at timestamp with time zone, who text, manager text, verb text, path text, old jsonb, new jsonb, request_id text)
 LANGUAGE sql
 STABLE ROWS 100
AS $function$
    SELECT h.revision, h.at, h.who, h.manager, h.verb, c.path, c.old, c.new, h.request_id
    FROM history h
    CROSS JOIN LATERAL (SELECT c.path, c.old, c.new FROM changes c WHERE c.revision = h.revision OFFSET 0) c
    WHERE h.api_group = of_group AND h.resource = of_resource AND h.namespace = of_namespace AND h.name = of_name
    ORDER BY h.revision, c.path
$function$;

-- The changes of one object (group, resource, namespace, name) between two moments, oldest first. most: of so many of
-- the newest revisions.
CREATE FUNCTION changes_of(of_group text, of_resource text, of_namespace text, of_name text, since timestamp with time zone, until timestamp with time zone, most bigint DEFAULT NULL::bigint)
 RETURNS TABLE(revision bigint, at timestamp with time zone, who text, manager text, verb text, path text, old jsonb, new jsonb, request_id text)
 LANGUAGE sql
 STABLE ROWS 100
AS $function$
    SELECT h.revision, h.at, h.who, h.manager, h.verb, c.path, c.old, c.new, h.request_id
    FROM (
        SELECT k.revision, k.at, k.who, k.manager, k.verb, k.request_id
        FROM history k
        WHERE k.api_group = of_group AND k.resource = of_resource AND k.namespace = of_namespace AND k.name = of_name
          AND k.at >= since AND k.revision > (SELECT coalesce(revision_at(since - interval '1 microsecond'), 0))
          AND k.revision <= (SELECT assert_in_history(revision_at(until)))
        ORDER BY k.revision DESC
        LIMIT most
    ) h
    CROSS JOIN LATERAL (SELECT c.path, c.old, c.new FROM changes c WHERE c.revision = h.revision OFFSET 0) c
    ORDER BY h.revision, c.path
$function$;

CREATE FUNCTION close_for_move(the_move uuid, for_ms integer)
 RETURNS bigint
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET lock_timeout TO '10s'
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    newest bigint;
BEGIN
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    PERFORM assure_durability();
    SELECT max(r.revision) INTO STRICT newest FROM revisions r;
    UPDATE moves SET closed_until = clock_timestamp() + for_ms * interval '1 ms', closed_at = newest
    WHERE move = the_move AND moved_at IS NULL;
    UPDATE log_bounds b SET closed = b.closed || m.resource
    FROM moves m
    WHERE m.move = the_move AND m.resource <> ALL (b.closed);
    RETURN newest;
END $function$;

CREATE FUNCTION closed_without_requests()
 RETURNS regclass
 LANGUAGE sql
 STABLE
AS $function$
    SELECT p.partition
    FROM log_partitions() p
    WHERE p.high <= (SELECT max(r.revision) FROM revisions r)
      AND p.high - 1 > (SELECT c.revision FROM compaction c)
      AND (
        lacks_index(p.partition, 'hash', 'request_id') AND lacks_index(p.partition, 'btree', 'request_id')
        OR lacks_index(p.partition, 'btree', 'namespace')
      )
    ORDER BY p.high DESC
    LIMIT 1
$function$;

-- The state of the cluster at a revision, without resources whose shorter history does not reach back to it: a notice
-- names those.
CREATE FUNCTION cluster_at(at bigint)
 RETURNS TABLE(api_group text, resource text, namespace text, name text, uid text, revision bigint, object json)
 LANGUAGE sql
 STABLE
AS $function$
    WITH then_at AS MATERIALIZED (
        SELECT assert_in_history(cluster_at.at) AS revision, beyond_history(cluster_at.at) AS without
    )
    SELECT o.api_group, o.resource, o.namespace, o.name, o.uid, o.revision, o.object
    FROM current_objects o
    WHERE o.revision <= (SELECT t.revision FROM then_at t)
      AND qualified_resource(o.api_group, o.resource) <> ALL ((SELECT t.without FROM then_at t)::text[])
    UNION ALL
    SELECT r.api_group, r.resource, r.namespace, r.name, p.uid, p.revision, p.object
    FROM history r
    CROSS JOIN LATERAL (
        SELECT h.uid, h.revision, h.object FROM history h WHERE h.revision = r.previous_revision LIMIT 1
    ) p
    WHERE r.revision > (SELECT t.revision FROM then_at t) AND r.previous_revision <= (SELECT t.revision FROM then_at t)
      AND r.previous_revision >= (SELECT b.low FROM log_bounds b)
      AND qualified_resource(r.api_group, r.resource) <> ALL ((SELECT t.without FROM then_at t)::text[])
    UNION ALL
    SELECT p.api_group, p.resource, p.namespace, p.name, p.uid, p.revision, p.object
    FROM superseded_objects p
    WHERE p.superseded_by > (SELECT t.revision FROM then_at t) AND p.revision <= (SELECT t.revision FROM then_at t)
      AND p.revision < (SELECT b.low FROM log_bounds b)
      AND qualified_resource(p.api_group, p.resource) <> ALL ((SELECT t.without FROM then_at t)::text[])
$function$;

-- All objects as they were at a revision or a moment, written as text.
CREATE FUNCTION cluster_at(at text)
 RETURNS TABLE(api_group text, resource text, namespace text, name text, uid text, revision bigint, object json)
 LANGUAGE plpgsql
 STABLE
AS $function$
DECLARE
    then_at bigint := revision_of(at);
BEGIN
    RETURN QUERY SELECT * FROM cluster_at(then_at);
END $function$;

CREATE FUNCTION cluster_at(moment timestamp with time zone)
 RETURNS TABLE(api_group text, resource text, namespace text, name text, uid text, revision bigint, object json)
 LANGUAGE sql
 STABLE
AS $function$
    SELECT * FROM cluster_at(revision_at(moment))
$function$;

-- The objects of a namespace as they were at a revision.
CREATE FUNCTION cluster_at(at bigint, of_namespace text, of_resource text DEFAULT NULL::text, of_group text DEFAULT NULL::text)
 RETURNS TABLE(api_group text, resource text, namespace text, name text, uid text, revision bigint, object json)
 LANGUAGE plpgsql
 STABLE
 SET enable_sort TO 'off'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
#variable_conflict use_column
DECLARE
    up_to   bigint := assert_in_history(cluster_at.at);
    without text[] := '{}';
    kind    record;
BEGIN
    IF of_resource IS NULL THEN
        without := beyond_history(up_to);
    END IF;
    FOR kind IN
        SELECT k.api_group, k.resource
        FROM resources_in_history() k
        WHERE (of_group IS NULL OR k.api_group = of_group) AND (of_resource IS NULL OR k.resource = of_resource)
          AND qualified_resource(k.api_group, k.resource) <> ALL (without)
    LOOP
        PERFORM assert_in_history(up_to, kind.api_group, kind.resource);
        RETURN QUERY
        SELECT o.api_group, o.resource, o.namespace, o.name, o.uid, o.revision, o.object
        FROM current_objects o
        WHERE o.api_group = kind.api_group AND o.resource = kind.resource AND o.namespace = of_namespace AND o.revision <= up_to;
        -- By name backwards and by revision forwards, as only one index has them: the next row is the first change of the next object.
        RETURN QUERY
        WITH RECURSIVE changed AS (
            (
                SELECT h.name, h.previous_revision
                FROM history h
                WHERE h.api_group = kind.api_group AND h.resource = kind.resource AND h.namespace = of_namespace
                  AND h.revision > up_to
                ORDER BY h.name DESC, h.revision
                LIMIT 1
            )
            UNION ALL
            SELECT next.name, next.previous_revision
            FROM changed c
            CROSS JOIN LATERAL (
                SELECT h.name, h.previous_revision
                FROM history h
                WHERE h.api_group = kind.api_group AND h.resource = kind.resource AND h.namespace = of_namespace
                  AND h.name < c.name AND h.revision > up_to
                ORDER BY h.name DESC, h.revision
                LIMIT 1
            ) next
        )
        SELECT kind.api_group, kind.resource, of_namespace, c.name, coalesce(p.uid, s.uid), c.previous_revision,
            coalesce(p.object, s.object)
        FROM changed c
        LEFT JOIN LATERAL (
            SELECT h.uid, h.object FROM history h WHERE h.revision = c.previous_revision LIMIT 1
        ) p ON true
        LEFT JOIN LATERAL (
            SELECT k.uid, k.object FROM superseded_objects k WHERE p.uid IS NULL AND k.revision = c.previous_revision LIMIT 1
        ) s ON true
        WHERE c.previous_revision IS NOT NULL;
    END LOOP;
END $function$;

-- The objects of a namespace as they were at a revision or a moment, written as text.
CREATE FUNCTION cluster_at(at text, of_namespace text, of_resource text DEFAULT NULL::text, of_group text DEFAULT NULL::text)
 RETURNS TABLE(api_group text, resource text, namespace text, name text, uid text, revision bigint, object json)
 LANGUAGE plpgsql
 STABLE
AS $function$
DECLARE
    then_at bigint := revision_of(at);
BEGIN
    RETURN QUERY SELECT * FROM cluster_at(then_at, of_namespace, of_resource, of_group);
END $function$;

-- The objects of a namespace as they were at a moment.
CREATE FUNCTION cluster_at(moment timestamp with time zone, of_namespace text, of_resource text DEFAULT NULL::text, of_group text DEFAULT NULL::text)
 RETURNS TABLE(api_group text, resource text, namespace text, name text, uid text, revision bigint, object json)
 LANGUAGE sql
 STABLE
AS $function$
    SELECT * FROM cluster_at(revision_at(moment), of_namespace, of_resource, of_group)
$function$;

-- What is different between two revisions or moments, written as text.
CREATE FUNCTION cluster_diff(from_at text, to_at text)
 RETURNS TABLE(what text, namespace text, name text, path text, old jsonb, new jsonb)
 LANGUAGE plpgsql
 STABLE
AS $function$
DECLARE
    from_revision bigint := revision_of(from_at);
    to_revision   bigint := revision_of(to_at);
BEGIN
    RETURN QUERY SELECT * FROM cluster_diff(from_revision, to_revision);
END $function$;

-- What is different between two moments.
CREATE FUNCTION cluster_diff(from_moment timestamp with time zone, to_moment timestamp with time zone)
 RETURNS TABLE(what text, namespace text, name text, path text, old jsonb, new jsonb)
 LANGUAGE sql
 STABLE
AS $function$
    SELECT * FROM cluster_diff(revision_at(from_moment), revision_at(to_moment))
$function$;

-- What is different between two revisions.
CREATE FUNCTION cluster_diff(from_revision bigint, to_revision bigint)
 RETURNS TABLE(what text, namespace text, name text, path text, old jsonb, new jsonb)
 LANGUAGE sql
 STABLE
AS $function$
    SELECT t.what, t.namespace, t.name, c.path, c.old, c.new
    FROM (
        SELECT h.what, h.namespace, h.name, (array_agg(h.previous_revision ORDER BY h.revision))[1] AS was, max(h.revision) AS becomes
        FROM history h
        WHERE h.revision > (SELECT assert_in_history(from_revision)) AND h.revision <= to_revision
          AND h.what <> ALL ((SELECT beyond_history(from_revision))::text[])
        GROUP BY h.what, h.namespace, h.name
    ) t
    LEFT JOIN LATERAL (
        SELECT p.object FROM history p WHERE p.revision = t.was
        UNION ALL
        SELECT s.object FROM superseded_objects s WHERE s.revision = t.was
        LIMIT 1
    ) p ON true
    JOIN LATERAL (SELECT h.verb, h.object FROM history h WHERE h.revision = t.becomes LIMIT 1) n ON true
    CROSS JOIN LATERAL changes_between(
        as_jsonb(p.object), CASE WHEN n.verb <> 'delete' THEN as_jsonb(n.object) END
    ) c
    ORDER BY t.what, t.namespace, t.name, c.path
$function$;

-- What is different in a namespace between two moments.
CREATE FUNCTION cluster_diff(from_moment timestamp with time zone, to_moment timestamp with time zone, of_namespace text)
 RETURNS TABLE(what text, namespace text, name text, path text, old jsonb, new jsonb)
 LANGUAGE sql
 STABLE
AS $function$
    SELECT t.what, t.namespace, t.name, c.path, c.old, c.new
    FROM (
        SELECT h.what, h.namespace, h.name, (array_agg(h.previous_revision ORDER BY h.revision))[1] AS was, max(h.revision) AS becomes
        FROM history h
        WHERE h.namespace = of_namespace AND h.revision > (SELECT assert_in_history(revision_at(from_moment)))
          AND h.revision <= (SELECT revision_at(to_moment))
          AND h.what <> ALL ((SELECT beyond_history(revision_at(from_moment)))::text[])
        GROUP BY h.what, h.namespace, h.name
    ) t
    LEFT JOIN LATERAL (
        SELECT p.object FROM history p WHERE p.revision = t.was
        UNION ALL
        SELECT s.object FROM superseded_objects s WHERE s.revision = t.was
        LIMIT 1
    ) p ON true
    JOIN LATERAL (SELECT h.verb, h.object FROM history h WHERE h.revision = t.becomes LIMIT 1) n ON true
    CROSS JOIN LATERAL changes_between(
        as_jsonb(p.object), CASE WHEN n.verb <> 'delete' THEN as_jsonb(n.object) END
    ) c
    ORDER BY t.what, t.name, c.path
$function$;

CREATE FUNCTION column_of_view(item json)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
    SELECT format(
        CASE item ->> 'type'
            WHEN 'integer' THEN 'crd.to_integer(%s)'
            WHEN 'number' THEN 'crd.to_number(%s)'
            WHEN 'boolean' THEN 'crd.to_boolean(%s)'
            WHEN 'date' THEN 'crd.to_time(%s)'
            ELSE '%s'
        END,
        format(
            'crd.text_at(%s, %L::text[])',
            CASE WHEN item -> 'item' IS NULL THEN 'object'
                ELSE format(
                    'crd.item_at(object, %L::text[], %L, %L)',
                    path_of_view(item #> '{item,path}'), item #>> '{item,key}', item #>> '{item,value}'
                )
            END,
            path_of_view(item -> 'path')
        )
    )
$function$;

CREATE FUNCTION commit_holding_revisions(objects json[], verbs text[], api_groups text[], resources text[], namespaces text[], names text[], uids text[], expected bigint[], write_ids uuid[], expiries timestamp with time zone[], usernames text[], user_agents text[], source_addresses text[], request_ids text[], field_managers text[], holds json, OUT accepted bigint[], OUT live bigint[], OUT taken jsonb)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
BEGIN
    SELECT c.accepted, c.live, c.taken INTO accepted, live, taken
    FROM commit_holding_revisions(
        objects, verbs, api_groups, resources, namespaces, names, uids, expected, write_ids, expiries,
        usernames, user_agents, source_addresses, request_ids, field_managers, NULL, NULL, NULL, holds
    ) c;
END $function$;

CREATE FUNCTION commit_holding_revisions(objects json[], verbs text[], api_groups text[], resources text[], namespaces text[], names text[], uids text[], expected bigint[], write_ids uuid[], expiries timestamp with time zone[], usernames text[], user_agents text[], source_addresses text[], request_ids text[], field_managers text[], seen bigint, seen_write uuid, callers_clock timestamp with time zone, holds json, OUT accepted bigint[], OUT live bigint[], OUT taken jsonb)
 RETURNS record
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
 SET lock_timeout TO '10s'
AS $function$
DECLARE
    contested record;
BEGIN
    -- The lock of commit_revisions, taken before anything is looked at.
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    taken := '[]';
    FOR contested IN
        SELECT DISTINCT ON (w.ordinal) w.ordinal, v.pool, v.value
        FROM json_array_elements(holds) WITH ORDINALITY AS w (claims, ordinal)
        CROSS JOIN LATERAL json_to_recordset(CASE json_typeof(w.claims) WHEN 'array' THEN w.claims END)
            AS v (pool text, value text, kept boolean)
        JOIN allocations l ON l.pool = v.pool AND l.value = v.value
        WHERE NOT v.kept AND (l.api_group, l.resource, l.namespace, l.name) <>
            (api_groups[w.ordinal], resources[w.ordinal], namespaces[w.ordinal], names[w.ordinal])
        ORDER BY w.ordinal
    LOOP
        taken := taken || to_jsonb(contested);
        -- No object ever is at this revision.
        expected[contested.ordinal] := -1;
    END LOOP;

    SELECT c.accepted, c.live INTO accepted, live
    FROM commit_revisions(
        objects, verbs, api_groups, resources, namespaces, names, uids, expected, write_ids, expiries,
        usernames, user_agents, source_addresses, request_ids, field_managers, seen, seen_write, callers_clock
    ) c;

    INSERT INTO allocations (pool, value, api_group, resource, namespace, name, allocated_at)
    SELECT v.pool, v.value, api_groups[w.i], resources[w.i], namespaces[w.i], names[w.i], clock_timestamp()
    FROM json_array_elements(holds) WITH ORDINALITY AS w (claims, i)
    CROSS JOIN LATERAL json_to_recordset(CASE json_typeof(w.claims) WHEN 'array' THEN w.claims END)
        AS v (pool text, value text)
    WHERE accepted[w.i] IS NOT NULL
    ON CONFLICT (pool, value) DO NOTHING;

    DELETE FROM allocations l
    USING json_array_elements(holds) WITH ORDINALITY AS w (claims, i)
    WHERE json_typeof(w.claims) = 'array' AND accepted[w.i] IS NOT NULL
      AND l.api_group = api_groups[w.i] AND l.resource = resources[w.i]
      AND l.namespace = namespaces[w.i] AND l.name = names[w.i]
      AND NOT EXISTS (
          SELECT FROM json_to_recordset(CASE json_typeof(w.claims) WHEN 'array' THEN w.claims END)
              AS v (pool text, value text)
          WHERE v.pool = l.pool AND v.value = l.value
      );
END $function$;

CREATE FUNCTION commit_holding_revisions(objects json[], verbs text[], api_groups text[], resources text[], namespaces text[], names text[], uids text[], expected bigint[], write_ids uuid[], expiries timestamp with time zone[], usernames text[], user_agents text[], source_addresses text[], request_ids text[], field_managers text[], seen bigint, seen_write uuid, callers_clock timestamp with time zone, encodings bytea[], media_types text[], holds json, OUT accepted bigint[], OUT live bigint[], OUT taken jsonb)
 RETURNS record
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
 SET lock_timeout TO '10s'
AS $function$
DECLARE
    contested record;
BEGIN
    -- The lock of commit_revisions, taken before anything is looked at.
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    taken := '[]';
    FOR contested IN
        SELECT DISTINCT ON (w.ordinal) w.ordinal, v.pool, v.value
        FROM json_array_elements(holds) WITH ORDINALITY AS w (claims, ordinal)
        CROSS JOIN LATERAL json_to_recordset(CASE json_typeof(w.claims) WHEN 'array' THEN w.claims END)
            AS v (pool text, value text, kept boolean)
        JOIN allocations l ON l.pool = v.pool AND l.value = v.value
        WHERE NOT v.kept AND (l.api_group, l.resource, l.namespace, l.name) <>
            (api_groups[w.ordinal], resources[w.ordinal], namespaces[w.ordinal], names[w.ordinal])
        ORDER BY w.ordinal
    LOOP
        taken := taken || to_jsonb(contested);
        -- No object ever is at this revision.
        expected[contested.ordinal] := -1;
    END LOOP;

    SELECT c.accepted, c.live INTO accepted, live
    FROM commit_revisions(
        objects, verbs, api_groups, resources, namespaces, names, uids, expected, write_ids, expiries,
        usernames, user_agents, source_addresses, request_ids, field_managers, seen, seen_write, callers_clock,
        encodings, media_types
    ) c;

    INSERT INTO allocations (pool, value, api_group, resource, namespace, name, allocated_at)
    SELECT v.pool, v.value, api_groups[w.i], resources[w.i], namespaces[w.i], names[w.i], clock_timestamp()
    FROM json_array_elements(holds) WITH ORDINALITY AS w (claims, i)
    CROSS JOIN LATERAL json_to_recordset(CASE json_typeof(w.claims) WHEN 'array' THEN w.claims END)
        AS v (pool text, value text)
    WHERE accepted[w.i] IS NOT NULL
    ON CONFLICT (pool, value) DO NOTHING;

    DELETE FROM allocations l
    USING json_array_elements(holds) WITH ORDINALITY AS w (claims, i)
    WHERE json_typeof(w.claims) = 'array' AND accepted[w.i] IS NOT NULL
      AND l.api_group = api_groups[w.i] AND l.resource = resources[w.i]
      AND l.namespace = namespaces[w.i] AND l.name = names[w.i]
      AND NOT EXISTS (
          SELECT FROM json_to_recordset(CASE json_typeof(w.claims) WHEN 'array' THEN w.claims END)
              AS v (pool text, value text)
          WHERE v.pool = l.pool AND v.value = l.value
      );
END $function$;

CREATE FUNCTION commit_revisions(batch json, objects json[])
 RETURNS TABLE(ordinal integer, accepted_revision bigint, live_revision bigint)
 LANGUAGE sql
AS $function$
    WITH columns AS MATERIALIZED (
        SELECT
            array_agg(w.ordinal) AS ordinals, array_agg(w.verb) AS verbs, array_agg(w.api_group) AS api_groups,
            array_agg(w.resource) AS resources, array_agg(w.namespace) AS namespaces, array_agg(w.name) AS names,
            array_agg(w.uid) AS uids, array_agg(coalesce(w.expected, 0)) AS expected, array_agg(w.write_id) AS write_ids,
            array_agg(w.expires_at) AS expiries, array_agg(w.username) AS usernames, array_agg(w.user_agent) AS user_agents,
            array_agg(w.source_address) AS source_addresses, array_agg(w.request_id) AS request_ids,
            array_agg(w.field_manager) AS field_managers
        FROM json_to_recordset(batch) AS w (
            ordinal integer, verb text, api_group text, resource text, namespace text, name text, uid text,
            expected bigint, write_id uuid, expires_at timestamptz,
            username text, user_agent text, source_address text, request_id text, field_manager text
        )
        HAVING count(*) > 0
    )
    SELECT a.*
    FROM columns w
    CROSS JOIN LATERAL commit_revisions(
        objects, w.verbs, w.api_groups, w.resources, w.namespaces, w.names, w.uids, w.expected, w.write_ids, w.expiries,
        w.usernames, w.user_agents, w.source_addresses, w.request_ids, w.field_managers, NULL, NULL, NULL
    ) c
    CROSS JOIN LATERAL unnest(w.ordinals, c.accepted, c.live) AS a (ordinal, accepted_revision, live_revision)
$function$;

CREATE FUNCTION commit_revisions(objects json[], verbs text[], api_groups text[], resources text[], namespaces text[], names text[], uids text[], expected bigint[], write_ids uuid[], expiries timestamp with time zone[], usernames text[], user_agents text[], source_addresses text[], request_ids text[], field_managers text[], OUT accepted bigint[], OUT live bigint[])
 RETURNS record
 LANGUAGE plpgsql
AS $function$
BEGIN
    SELECT c.accepted, c.live INTO accepted, live
    FROM commit_revisions(
        objects, verbs, api_groups, resources, namespaces, names, uids, expected, write_ids, expiries,
        usernames, user_agents, source_addresses, request_ids, field_managers, NULL, NULL, NULL
    ) c;
END $function$;

CREATE FUNCTION commit_revisions(objects json[], verbs text[], api_groups text[], resources text[], namespaces text[], names text[], uids text[], expected bigint[], write_ids uuid[], expiries timestamp with time zone[], usernames text[], user_agents text[], source_addresses text[], request_ids text[], field_managers text[], seen bigint, seen_write uuid, callers_clock timestamp with time zone, OUT accepted bigint[], OUT live bigint[])
 RETURNS record
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
 SET lock_timeout TO '10s'
AS $function$
DECLARE
    epoch       bigint;
    timeline    text;
    newest      bigint;
    found_write uuid;
    moment      timestamptz;
    bounds      log_bounds;
    -- Where each object lies. It stays there until the end: all who write objects hold the lock, and what rewrites the whole
    -- table waits for our transaction.
    places      tid[];
    last        bigint;
    oldest      bigint;
BEGIN
    -- In a statement of its own: the next ones then have a snapshot that sees every earlier batch.
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    IF current_setting('synchronous_commit') = 'off' OR current_setting('client_min_messages') = 'error' THEN
        PERFORM assure_durability();
    END IF;
    SELECT e.epoch, e.timeline, r.revision, r.committed_at, (SELECT k.write_id FROM revisions k WHERE k.revision = seen)
    INTO epoch, timeline, newest, moment, found_write
    FROM (SELECT p.epoch, p.timeline FROM epochs p ORDER BY p.epoch DESC LIMIT 1) e
    LEFT JOIN (
        SELECT n.revision, n.committed_at FROM revisions n WHERE n.revision >= coalesce(seen, 0) ORDER BY n.revision DESC LIMIT 1
    ) r ON true;
    IF timeline <> database_timeline() OR seen > epoch AND (newest IS NULL OR seen_write <> found_write) THEN
        epoch := keep_epoch(seen, seen_write);
    END IF;
    IF newest IS NULL AND seen IS NOT NULL THEN
        SELECT n.revision, n.committed_at INTO newest, moment FROM revisions n ORDER BY n.revision DESC LIMIT 1;
    END IF;
    newest := greatest(newest, epoch);
    -- Either may be null, which greatest and least pass over.
    moment := greatest(moment, least(clock_timestamp(), callers_clock + interval '1 minute'));

    SELECT array_agg(checked.id), array_agg(checked.revision), array_agg(checked.place), max(checked.id), min(checked.revision)
    INTO accepted, live, places, last, oldest
    FROM (
        SELECT
            CASE WHEN coalesce(h.revision, 0) = expected[w.i] THEN nextval('revisions_revision_seq') END AS id,
            h.revision,
            h.ctid AS place
        FROM unnest(names) WITH ORDINALITY AS w (name, i)
        LEFT JOIN objects h ON h.api_group = api_groups[w.i] AND h.resource = resources[w.i]
            AND h.namespace = namespaces[w.i] AND h.name = w.name
        ORDER BY w.i
    ) checked;

    SELECT b.* INTO bounds FROM log_bounds b;
    IF last >= bounds.high THEN
        PERFORM make_partition(last);
    END IF;
    -- States that are in the log no more are overwritten below.
    IF oldest < bounds.low THEN
        INSERT INTO superseded (
            revision, superseded_by, api_group, resource, namespace, name, uid, object, encoded, media_type, committed_at
        )
        SELECT o.revision, accepted[i], o.api_group, o.resource, o.namespace, o.name, o.uid, o.object, o.encoded, o.media_type,
            o.modified_at
        FROM generate_series(1, cardinality(names)) AS i
        JOIN objects o ON o.ctid = places[i]
        WHERE accepted[i] IS NOT NULL AND live[i] < bounds.low
        ON CONFLICT DO NOTHING;
    END IF;

    INSERT INTO revisions (
        revision, api_group, resource, namespace, name, uid, verb, previous_revision, object, committed_at, write_id,
        expires_at, username, user_agent, source_address, request_id, field_manager, follows_revision
    )
    SELECT
        accepted[i], api_groups[i], resources[i], namespaces[i], names[i], uids[i], verbs[i], live[i], objects[i],
        moment, write_ids[i], expiries[i], usernames[i], user_agents[i], source_addresses[i], request_ids[i],
        field_managers[i], newest
    FROM generate_series(1, cardinality(names)) AS i
    WHERE accepted[i] IS NOT NULL;

    IF 0 = ANY (expected) THEN
        INSERT INTO objects (api_group, resource, namespace, name, revision, uid, expires_at, modified_at)
        SELECT api_groups[i], resources[i], namespaces[i], names[i], accepted[i], uids[i], expiries[i], moment
        FROM generate_series(1, cardinality(names)) AS i
        WHERE accepted[i] IS NOT NULL AND places[i] IS NULL AND verbs[i] <> 'delete';
    END IF;
    IF 0 < ANY (expected) THEN
        UPDATE objects h
        SET revision = accepted[i], uid = uids[i], expires_at = expiries[i], object = NULL, encoded = NULL, media_type = NULL,
            modified_at = moment
        FROM generate_series(1, cardinality(names)) AS i
        WHERE h.ctid = places[i] AND accepted[i] IS NOT NULL AND verbs[i] <> 'delete';
    END IF;
    IF 'delete' = ANY (verbs) THEN
        DELETE FROM objects h
        USING generate_series(1, cardinality(names)) AS i
        WHERE h.ctid = places[i] AND accepted[i] IS NOT NULL AND verbs[i] = 'delete';
    END IF;
END $function$;

-- Appends a batch of writes to the log and applies them to the objects, in one transaction.
--
-- Element i of each array is write i. expected[i] is the revision that the live object must have, 0 for none.
-- accepted[i] is the new revision; where it is null, the write was refused, alone, and live[i] is the revision of
-- the live object, null for none, or -1 when the resource belongs to another database. A batch has at most one
-- write of an object. objects[i] is JSON, or encodings[i] has the bytes and media_types[i] their form.
--
-- In this order:
--
-- 1. It locks commit_order. The order of ids is then the order of commits, over all servers, and readers need not
--    wait for gaps. Two designs failed before: inserts without a lock, where a higher id may become visible before
--    a lower one; and an advisory lock, which every user of the database may take and keep. The lock ends with the
--    call, so that a client that vanishes does not hold it. The next statement has a new snapshot, which sees
--    every earlier batch: therefore the isolation level must be read committed.
-- 2. It compares the log with what the caller knows of it: seen, and seen_write, the id of its write. Where they
--    differ, commits were lost, and keep_epoch begins an epoch before the batch is examined. The batch may go on:
--    an expected revision of the old epoch is one of the new only where the object is the same.
-- 3. It sets the time of the batch, never before that of an earlier one, and at most a minute after callers_clock:
--    a clock that jumps a year ahead would stop the time of the log for a year.
-- 4. It finds each live object once, through an index, and keeps its place (ctid) for what follows: only holders
--    of the lock write objects. The settings of the function hold the plan to the index, also on a young table.
-- 5. It appends the accepted writes to revisions, and keeps replaced states that the log is about to lose
--    (superseded).
-- 6. It inserts, updates or deletes the live objects, without their bytes. fill_objects copies the bytes later,
--    outside of the lock, once an object rests: an object that is written often is stored once.
-- 7. It notifies servers that poll, if there are any.
--
-- A batch in JSON was rejected: it was parsed twice and copied through a sort, at twice the CPU for 200 pods. So
-- was a call for each write: each takes the lock, a round trip and an fsync.
CREATE FUNCTION commit_revisions(objects json[], verbs text[], api_groups text[], resources text[], namespaces text[], names text[], uids text[], expected bigint[], write_ids uuid[], expiries timestamp with time zone[], usernames text[], user_agents text[], source_addresses text[], request_ids text[], field_managers text[], seen bigint, seen_write uuid, callers_clock timestamp with time zone, encodings bytea[], media_types text[], OUT accepted bigint[], OUT live bigint[])
 RETURNS record
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
 SET lock_timeout TO '10s'
AS $function$
DECLARE
    epoch       bigint;
    timeline    text;
    newest      bigint;
    found_write uuid;
    moment      timestamptz;
    bounds      log_bounds;
    moved       integer[];
    of          integer;
    -- Where each object lies. It stays there until the end: all who write objects hold the lock, and what rewrites the whole
    -- table waits for our transaction.
    places      tid[];
    last        bigint;
    oldest      bigint;
BEGIN
    -- At any other level all statements have the snapshot of the first, which is from before the lock.
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE 'commits need the isolation level read committed, and this one is at %', current_setting('transaction_isolation')
            USING ERRCODE = 'invalid_transaction_state', HINT = 'Set default_transaction_isolation to read committed for the role.';
    END IF;
    -- In a statement of its own: the next ones then have a snapshot that sees every earlier batch.
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    IF current_setting('synchronous_commit') = 'off' OR current_setting('client_min_messages') = 'error' THEN
        PERFORM assure_durability();
    END IF;
    SELECT e.epoch, e.timeline, r.revision, r.committed_at, (SELECT k.write_id FROM revisions k WHERE k.revision = seen)
    INTO epoch, timeline, newest, moment, found_write
    FROM (SELECT p.epoch, p.timeline FROM epochs p ORDER BY p.epoch DESC LIMIT 1) e
    LEFT JOIN (
        SELECT n.revision, n.committed_at FROM revisions n WHERE n.revision >= coalesce(seen, 0) ORDER BY n.revision DESC LIMIT 1
    ) r ON true;
    IF timeline <> database_timeline() OR seen > epoch AND (newest IS NULL OR seen_write <> found_write) THEN
        epoch := keep_epoch(seen, seen_write);
    END IF;
    IF newest IS NULL AND seen IS NOT NULL THEN
        SELECT n.revision, n.committed_at INTO newest, moment FROM revisions n ORDER BY n.revision DESC LIMIT 1;
    END IF;
    newest := greatest(newest, epoch);
    -- Either may be null, which greatest and least pass over.
    moment := greatest(moment, least(clock_timestamp(), callers_clock + interval '1 minute'));

    SELECT b.* INTO bounds FROM log_bounds b;
    IF resources && bounds.closed THEN
        moved := writes_moved(api_groups, resources);
        FOREACH of IN ARRAY moved LOOP
            -- No object ever is at this revision.
            expected[of] := -1;
        END LOOP;
    END IF;

    SELECT array_agg(checked.id), array_agg(checked.revision), array_agg(checked.place), max(checked.id), min(checked.revision)
    INTO accepted, live, places, last, oldest
    FROM (
        SELECT
            CASE WHEN coalesce(h.revision, 0) = expected[w.i] THEN nextval('revisions_revision_seq') END AS id,
            h.revision,
            h.ctid AS place
        FROM unnest(names) WITH ORDINALITY AS w (name, i)
        LEFT JOIN objects h ON h.api_group = api_groups[w.i] AND h.resource = resources[w.i]
            AND h.namespace = namespaces[w.i] AND h.name = w.name
        ORDER BY w.i
    ) checked;

    IF last >= bounds.high THEN
        PERFORM make_partition(last);
    END IF;
    -- States are overwritten below that the log no longer has, or is about to lose.
    IF oldest < bounds.noted THEN
        INSERT INTO superseded (
            revision, superseded_by, api_group, resource, namespace, name, uid, object, encoded, media_type, committed_at
        )
        SELECT o.revision, accepted[i], o.api_group, o.resource, o.namespace, o.name, o.uid, o.object, o.encoded, o.media_type,
            o.modified_at
        FROM generate_series(1, cardinality(names)) AS i
        JOIN objects o ON o.ctid = places[i]
        WHERE accepted[i] IS NOT NULL AND live[i] < bounds.noted
        ON CONFLICT DO NOTHING;
    END IF;

    INSERT INTO revisions (
        revision, api_group, resource, namespace, name, uid, verb, previous_revision, object, encoded, media_type, committed_at,
        write_id, expires_at, username, user_agent, source_address, request_id, field_manager, follows_revision
    )
    SELECT
        accepted[i], api_groups[i], resources[i], namespaces[i], names[i], uids[i], verbs[i], live[i], objects[i],
        encodings[i], media_types[i], moment, write_ids[i], expiries[i], usernames[i], user_agents[i], source_addresses[i],
        request_ids[i], field_managers[i], newest
    FROM generate_series(1, cardinality(names)) AS i
    WHERE accepted[i] IS NOT NULL;

    IF 0 = ANY (expected) THEN
        INSERT INTO objects (api_group, resource, namespace, name, revision, uid, expires_at, modified_at)
        SELECT api_groups[i], resources[i], namespaces[i], names[i], accepted[i], uids[i], expiries[i], moment
        FROM generate_series(1, cardinality(names)) AS i
        WHERE accepted[i] IS NOT NULL AND places[i] IS NULL AND verbs[i] <> 'delete';
    END IF;
    IF 0 < ANY (expected) THEN
        UPDATE objects h
        SET revision = accepted[i], uid = uids[i], expires_at = expiries[i], object = NULL, encoded = NULL, media_type = NULL,
            modified_at = moment
        FROM generate_series(1, cardinality(names)) AS i
        WHERE h.ctid = places[i] AND accepted[i] IS NOT NULL AND verbs[i] <> 'delete';
    END IF;
    IF 'delete' = ANY (verbs) THEN
        DELETE FROM objects h
        USING generate_series(1, cardinality(names)) AS i
        WHERE h.ctid = places[i] AND accepted[i] IS NOT NULL AND verbs[i] = 'delete';
    END IF;
    IF moved IS NOT NULL THEN
        FOREACH of IN ARRAY moved LOOP
            live[of] := -1;
        END LOOP;
    END IF;
    -- Servers that poll hold this lock in share mode as long as they listen. Only they cost a NOTIFY, which makes all that notify on
    -- this PostgreSQL commit one after the other.
    IF last IS NOT NULL AND NOT pg_try_advisory_xact_lock('commit_order'::regclass::oid::int, hashtext('pg-apiserver polls')) THEN
        PERFORM ring_for_commits();
    END IF;
END $function$;

CREATE FUNCTION compact_history()
 RETURNS boolean
 LANGUAGE sql
AS $function$
    WITH cut AS (
        -- Another server that is at it has its turn.
        SELECT revision_at(clock_timestamp() - held.history_window) AS up_to
        FROM (SELECT c.history_window FROM compaction c FOR UPDATE SKIP LOCKED) held
    ), target AS (
        SELECT r.revision, r.committed_at
        FROM revisions r
        WHERE r.revision <= (SELECT up_to FROM cut) AND r.revision < (SELECT max(n.revision) FROM revisions n)
        ORDER BY r.revision DESC
        LIMIT 1
    ), raised AS (
        UPDATE compaction c
        SET revision = t.revision, committed_at = t.committed_at, compacted_at = clock_timestamp()
        FROM target t
        WHERE c.revision < t.revision
        RETURNING true
    )
    SELECT EXISTS (SELECT FROM raised)
$function$;

CREATE FUNCTION compact_shorter_histories()
 RETURNS void
 LANGUAGE sql
AS $function$
    UPDATE compaction c
    SET shorter = (
        SELECT jsonb_object_agg(
            s.key,
            -- Null: its window reaches back further than what is compacted of all, or it has none any more.
            CASE WHEN cut.up_to > (s.value ->> 'revision')::bigint
                THEN s.value || jsonb_build_object('revision', least(cut.up_to, (SELECT max(r.revision) - 1 FROM revisions r)))
                ELSE s.value
            END
        )
        FROM jsonb_each(c.shorter) s
        CROSS JOIN LATERAL (
            SELECT revision_at(clock_timestamp() - make_interval(secs => (s.value ->> 'window')::float8)) AS up_to
        ) cut
    )
    WHERE c.shorter <> '{}'
$function$;

CREATE FUNCTION compacted_revision(of_group text, of_resource text)
 RETURNS bigint
 LANGUAGE sql
 STABLE
AS $function$
    SELECT greatest(
        c.revision,
        (c.shorter -> (of_resource || CASE WHEN of_group = '' THEN '' ELSE '.' || of_group END) ->> 'revision')::bigint
    )
    FROM compaction c
$function$;

CREATE FUNCTION correct_clock(callers_clock timestamp with time zone, at_most integer, OUT corrected bigint, OUT log_ahead double precision, OUT clock_ahead double precision)
 RETURNS record
 LANGUAGE plpgsql
 SET lock_timeout TO '10s'
AS $function$
DECLARE
    present  timestamptz := greatest(clock_timestamp(), callers_clock);
    newest   timestamptz;
    too_late bigint;
BEGIN
    corrected := 0;
    clock_ahead := extract(epoch FROM clock_timestamp() - callers_clock);
    SELECT r.committed_at INTO newest FROM revisions r ORDER BY r.revision DESC LIMIT 1;
    log_ahead := extract(epoch FROM newest - present);
    IF newest IS NULL OR newest <= present + interval '5 minutes' THEN
        RETURN;
    END IF;
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    UPDATE compaction SET committed_at = present WHERE committed_at > present;
    too_late := revision_at(present);
    UPDATE revisions SET committed_at = present
    WHERE revision IN (SELECT r.revision FROM revisions r WHERE r.revision > too_late ORDER BY r.revision LIMIT at_most);
    GET DIAGNOSTICS corrected = ROW_COUNT;
END $function$;

CREATE FUNCTION cut_over(the_move uuid)
 RETURNS bigint
 LANGUAGE plpgsql
 SET lock_timeout TO '10s'
AS $function$
DECLARE
    present moves;
    cut     bigint;
BEGIN
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    PERFORM assure_durability();
    SELECT m.* INTO STRICT present FROM moves m WHERE m.move = the_move;
    IF present.moved_at IS NOT NULL THEN
        RETURN present.moved_at;
    END IF;
    -- The clock of another primary may differ, so the log has the last word.
    IF present.closed_until IS NULL OR present.closed_until <= clock_timestamp() OR EXISTS (
        SELECT FROM revisions r
        WHERE r.api_group = present.api_group AND r.resource = present.resource AND r.revision > present.closed_at
    ) THEN
        RETURN NULL;
    END IF;
    cut := tell_of_move(the_move, present.api_group, present.resource, 'Moved');
    UPDATE moves SET moved_at = cut WHERE move = the_move;
    RETURN cut;
END $function$;

CREATE FUNCTION database_place()
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
    SELECT coalesce(database_timeline(), '') || ' ' || extract(epoch FROM pg_postmaster_start_time())::text
$function$;

CREATE FUNCTION database_system()
 RETURNS text
 LANGUAGE sql
AS $function$
    SELECT system_identifier::text FROM pg_control_system()
$function$;

CREATE FUNCTION database_timeline()
 RETURNS text
 LANGUAGE sql
AS $function$
    SELECT CASE WHEN NOT pg_is_in_recovery() THEN left(pg_walfile_name(pg_current_wal_lsn()), 8) END
$function$;

CREATE FUNCTION digest_of(of_group text, of_resource text)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
    SELECT count(*) || ' objects, ' || coalesce(sum(o.revision), 0)
    FROM objects o
    WHERE o.api_group = of_group AND o.resource = of_resource
$function$;

CREATE FUNCTION doubt_history(seen bigint, seen_write uuid)
 RETURNS text
 LANGUAGE plpgsql
 STABLE
AS $function$
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
END $function$;

CREATE FUNCTION doubt_row(seen bigint, seen_write uuid)
 RETURNS text
 LANGUAGE plpgsql
 STABLE
AS $function$
DECLARE
    found uuid;
BEGIN
    IF seen IS NULL OR seen <= (SELECT max(e.epoch) FROM epochs e)
        OR seen <= (SELECT greatest(c.revision, c.thinned) FROM compaction c) THEN
        RETURN NULL;
    END IF;
    SELECT r.write_id INTO found FROM revisions r WHERE r.revision = seen;
    IF found IS NULL THEN
        RETURN format('revision %s is gone', seen);
    ELSIF found <> seen_write THEN
        RETURN format('revision %s is another write', seen);
    END IF;
    RETURN NULL;
END $function$;

-- For servers: drops the views of a custom resource.
CREATE FUNCTION drop_custom_resource_view(of_group text, of_resource text)
 RETURNS text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET lock_timeout TO '2s'
AS $function$
DECLARE
    outcome text := 'nothing';
    of      record;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('custom resource views'), 0);
    FOR of IN
        SELECT c.relname
        FROM pg_class c
        WHERE c.relnamespace = to_regnamespace('crd') AND c.relkind = 'v'
          AND starts_with(obj_description(c.oid, 'pg_class'), mark_of_view(of_group, of_resource))
    LOOP
        BEGIN
            EXECUTE format('DROP VIEW crd.%I', of.relname);
            outcome := 'dropped';
        EXCEPTION WHEN dependent_objects_still_exist THEN
            RETURN 'kept';
        END;
    END LOOP;
    RETURN outcome;
END $function$;

CREATE FUNCTION drop_partition(left_for interval)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET lock_timeout TO '200ms'
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    leaving regclass;
    past    bigint;
    readers integer[];
BEGIN
    UPDATE left_partitions SET left_at = clock_timestamp() WHERE left_at > clock_timestamp();
    FOR attempt IN 1..2 LOOP
        SELECT p.partition, p.high INTO leaving, past
        FROM log_partitions() p
        JOIN log_bounds b ON p.high <= b.low
        LEFT JOIN left_partitions l ON l.high = p.high
        -- An older server has left those without a time of their own.
        WHERE coalesce(l.left_at, b.left_at) <= clock_timestamp() - left_for
        ORDER BY p.high
        LIMIT 1;
        IF leaving IS NULL THEN
            RETURN false;
        END IF;
        readers := readers_of_partition(leaving);
        IF readers <> '{}' THEN
            RAISE 'partition % is read by the backends %', leaving, readers
                USING ERRCODE = 'lock_not_available', DETAIL = array_to_string(readers, ',');
        END IF;
        -- Another server may have dropped it by the time the lock is there.
        LOCK TABLE revisions IN ACCESS EXCLUSIVE MODE;
    END LOOP;
    EXECUTE format('DROP TABLE %s', leaving);
    DELETE FROM left_partitions WHERE high <= past;
    RETURN true;
END $function$;

CREATE FUNCTION fill_objects(behind bigint, older_than interval)
 RETURNS text
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_sort TO 'off'
 SET enable_bitmapscan TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
 SET lock_timeout TO '2s'
AS $function$
DECLARE
    walk    filling;
    part    record;
    looked  bigint := 0;
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
        UPDATE filling SET up_to = walk.up_to, passed_to = filled_to, due = '{}';
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
        GET DIAGNOSTICS looked = ROW_COUNT;
        UPDATE filling SET due = '{}', filled = filled + looked;
        RETURN 'more';
    END IF;

    FOR part IN
        SELECT r.revision, (
            SELECT o.object IS NULL AND o.encoded IS NULL
            FROM objects o
            WHERE o.api_group = r.api_group AND o.resource = r.resource AND o.namespace = r.namespace AND o.name = r.name
              AND o.revision = r.revision
        ) AS is_due
        FROM revisions r
        WHERE r.revision > walk.passed_to AND r.revision <= walk.up_to
        ORDER BY r.revision
        LIMIT 5000
    LOOP
        looked := looked + 1;
        IF part.is_due THEN
            missing := missing || part.revision;
            bytes := bytes + (
                SELECT coalesce(octet_length(r.object::text), octet_length(r.encoded)) FROM revisions r WHERE r.revision = part.revision
            );
            EXIT WHEN cardinality(missing) = 50 OR bytes > 250000;
        END IF;
    END LOOP;
    IF looked = 0 THEN
        UPDATE filling SET filled_to = up_to, filled_at = clock_timestamp(), up_to = NULL;
        RETURN 'done';
    END IF;
    UPDATE filling SET passed = passed + looked, passed_to = part.revision, due = missing;
    RETURN 'more';
END $function$;

CREATE FUNCTION fill_up_to(behind bigint, older_than interval)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
AS $function$
DECLARE
    last   filling;
    cut    bigint;
    wanted bigint;
BEGIN
    SELECT f.* INTO STRICT last FROM filling f;
    SELECT c.revision INTO STRICT cut FROM compaction c;
    SELECT greatest(max(r.revision) - behind, revision_at(clock_timestamp() - older_than), cut) INTO wanted FROM revisions r;
    IF wanted > last.filled_to AND (
        wanted - last.filled_to >= behind
        OR last.filled_at <= clock_timestamp() - older_than
        OR EXISTS (SELECT FROM log_partitions() p WHERE p.high - 1 <= cut AND p.high - 1 > last.filled_to)
    ) THEN
        RETURN wanted;
    END IF;
    RETURN NULL;
END $function$;

CREATE FUNCTION find_writes(ids uuid[], after bigint)
 RETURNS TABLE(write_id uuid, revision bigint)
 LANGUAGE plpgsql
 SET lock_timeout TO '10s'
AS $function$
BEGIN
    LOCK TABLE ONLY commit_order IN SHARE MODE;
    RETURN QUERY SELECT r.write_id, r.revision FROM revisions r WHERE r.revision > after AND r.write_id = ANY (ids);
    IF FOUND THEN
        PERFORM assure_durability();
        PERFORM pg_logical_emit_message(true, 'pg-apiserver', 'found');
    END IF;
END $function$;

CREATE FUNCTION forget_moved(the_move uuid, at_most integer)
 RETURNS bigint
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET lock_timeout TO '10s'
AS $function$
DECLARE
    present   moves;
    forgotten bigint;
BEGIN
    SELECT m.* INTO STRICT present FROM moves m WHERE m.move = the_move AND m.moved_at IS NOT NULL;
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    DELETE FROM objects WHERE ctid = ANY (ARRAY(
        SELECT o.ctid FROM objects o
        WHERE o.api_group = present.api_group AND o.resource = present.resource
        LIMIT at_most
    ));
    GET DIAGNOSTICS forgotten = ROW_COUNT;
    RETURN forgotten;
END $function$;

CREATE FUNCTION forget_superseded(at_most integer)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
DECLARE
    forgotten bigint;
BEGIN
    DELETE FROM superseded
    WHERE revision IN (
        SELECT s.revision FROM superseded s
        WHERE s.superseded_by <= (SELECT c.revision FROM compaction c)
        ORDER BY s.superseded_by
        LIMIT at_most
    );
    GET DIAGNOSTICS forgotten = ROW_COUNT;
    RETURN forgotten;
END $function$;

CREATE FUNCTION functions_of_owner()
 RETURNS TABLE(function regprocedure, is_definer boolean)
 LANGUAGE sql
 STABLE
AS $function$
    SELECT p.oid::regprocedure, p.prosecdef
    FROM pg_proc p
    JOIN pg_class log ON log.oid = 'revisions'::regclass
    WHERE p.pronamespace = log.relnamespace AND p.proowner = log.relowner AND p.prokind = 'f'
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
$function$;

-- Lets a role read history and objects in the views, without what Secrets hold.
CREATE FUNCTION grant_reader(to_role name)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
DECLARE
    here name := (SELECT relnamespace::regnamespace FROM pg_class WHERE oid = 'revisions'::regclass);
    of   text;
BEGIN
    IF NOT has_schema_privilege(to_role, here, 'USAGE') THEN
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', here, to_role);
    END IF;
    FOREACH of IN ARRAY ARRAY[
        'SELECT ON history, history_jsonb, current_objects, objects_jsonb, superseded_objects',
        'SELECT ON changes, deleted, labels, conditions',
        'SELECT ON compaction, epochs, log_bounds',
        'SELECT (revision, committed_at) ON revisions',
        'EXECUTE ON FUNCTION revision_at(timestamptz), revision_of(text), compacted_revision(text, text)',
        'EXECUTE ON FUNCTION assert_in_history(bigint), assert_in_history(bigint, text, text), resources_in_history()',
        'EXECUTE ON FUNCTION beyond_history(bigint), qualified_resource(text, text)',
        'EXECUTE ON FUNCTION object_at(text, text, text, text, bigint), object_at(text, text, text, text, timestamptz)',
        'EXECUTE ON FUNCTION object_at(text, text, text, text, text)',
        'EXECUTE ON FUNCTION cluster_at(bigint), cluster_at(timestamptz), cluster_at(text)',
        'EXECUTE ON FUNCTION cluster_at(bigint, text, text, text), cluster_at(timestamptz, text, text, text)',
        'EXECUTE ON FUNCTION cluster_at(text, text, text, text)',
        'EXECUTE ON FUNCTION cluster_diff(bigint, bigint), cluster_diff(timestamptz, timestamptz), cluster_diff(text, text)',
        'EXECUTE ON FUNCTION cluster_diff(timestamptz, timestamptz, text)',
        'EXECUTE ON FUNCTION changes_of(text, text, text, text), blame_of(text, text, text, text)',
        'EXECUTE ON FUNCTION changes_of(text, text, text, text, timestamptz, timestamptz, bigint)',
        'EXECUTE ON FUNCTION timeline(text, timestamptz), timeline(text, timestamptz, timestamptz, bigint)',
        'EXECUTE ON FUNCTION images_at(timestamptz), images_at(timestamptz, text), quantity(text)',
        'EXECUTE ON FUNCTION path_of(text, text), keys_of(jsonb, jsonb), parts_of(text, jsonb, text[]), has_parts(jsonb)',
        'EXECUTE ON FUNCTION changed_data(json, json), changes_between(jsonb, jsonb), leaves_of(jsonb)',
        'EXECUTE ON FUNCTION as_jsonb(json), without_secret_data(json), readable_object(json, bytea, text)'
    ] LOOP
        EXECUTE format('GRANT %s TO %I', of, to_role);
    END LOOP;
    RETURN format('%s may read, but not what Secrets hold (GRANT SELECT ON secret_data shows that)', to_role);
END $function$;

-- Lets a role serve. It needs LOGIN and REPLICATION besides.
CREATE FUNCTION grant_server(to_role name)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
DECLARE
    here name := (SELECT relnamespace::regnamespace FROM pg_class WHERE oid = 'revisions'::regclass);
    of   record;
BEGIN
    IF NOT has_schema_privilege(to_role, here, 'USAGE') THEN
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', here, to_role);
    END IF;
    FOR of IN
        SELECT g.rights
        FROM (VALUES
            -- The right to lock it; there are no rows.
            ('UPDATE ON commit_order'),
            -- Rows that a clock has dated in the future are given the present.
            ('SELECT, INSERT, UPDATE (committed_at) ON revisions'),
            -- A new epoch moves it.
            ('USAGE, SELECT, UPDATE ON SEQUENCE revisions_revision_seq'),
            ('SELECT, INSERT, UPDATE, DELETE ON objects'),
            ('SELECT, UPDATE ON filling'),
            ('SELECT, INSERT, DELETE ON superseded'),
            ('SELECT, INSERT, DELETE ON allocations'),
            ('SELECT, UPDATE ON compaction'),
            -- A timeline on which nothing was lost goes on with the epoch.
            ('SELECT, INSERT, UPDATE (timeline) ON epochs'),
            ('SELECT, UPDATE ON history_place'),
            ('SELECT, INSERT, UPDATE, DELETE ON witnesses'),
            ('SELECT ON log_bounds'),
            ('SELECT ON schema_migrations'),
            ('SELECT, INSERT, UPDATE, DELETE ON server_leases'),
            ('SELECT, INSERT, UPDATE, DELETE ON peers'),
            ('SELECT, INSERT, UPDATE ON work_leases'),
            ('SELECT, INSERT, UPDATE ON cluster_keys'),
            ('SELECT, INSERT, UPDATE (private_key), DELETE ON signing_keys'),
            ('SELECT, INSERT, UPDATE, DELETE ON moves'),
            ('SELECT, INSERT, UPDATE ON move_servers'),
            ('SELECT, UPDATE ON arrival'),
            ('EXECUTE ON FUNCTION make_partition(bigint)'),
            ('EXECUTE ON FUNCTION leave_partition()'),
            ('EXECUTE ON FUNCTION drop_partition(interval)'),
            ('SELECT ON thinning'),
            ('EXECUTE ON FUNCTION thin_partition()'),
            ('EXECUTE ON FUNCTION put_custom_resource_view(text, text, json, text)'),
            ('EXECUTE ON FUNCTION drop_custom_resource_view(text, text)'),
            ('EXECUTE ON FUNCTION index_requests()'),
            ('EXECUTE ON FUNCTION close_for_move(uuid, integer)'),
            ('EXECUTE ON FUNCTION cancel_move(uuid)'),
            ('EXECUTE ON FUNCTION begin_arrival(uuid, text, text, json, bigint, bigint)')
        ) g (rights)
        UNION ALL
        SELECT format('EXECUTE ON FUNCTION %s', f.function) FROM functions_of_owner() f WHERE NOT f.is_definer
    LOOP
        EXECUTE format('GRANT %s TO %I', of.rights, to_role);
    END LOOP;
    RETURN format('%s may serve', to_role);
END $function$;

-- Whether changes inside of a value are listed, rather than that of the whole.
CREATE FUNCTION has_parts(value jsonb)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
    SELECT CASE jsonb_typeof(value)
        WHEN 'object' THEN value <> '{}'
        WHEN 'array' THEN value <> '[]' AND NOT EXISTS (
            SELECT FROM jsonb_array_elements(value) AS l (element) WHERE jsonb_typeof(l.element) <> 'object'
        )
    END
$function$;

-- The images of all pods at a moment.
CREATE FUNCTION images_at(moment timestamp with time zone)
 RETURNS TABLE(image text, containers bigint)
 LANGUAGE sql
 STABLE ROWS 100
 SET client_min_messages TO 'warning'
AS $function$
    SELECT c.container ->> 'image', count(*)
    FROM cluster_at(images_at.moment) o
    CROSS JOIN LATERAL json_array_elements(o.object -> 'spec' -> 'containers') AS c (container)
    WHERE o.api_group = '' AND o.resource = 'pods'
      AND (SELECT assert_in_history(revision_at(images_at.moment), '', 'pods')) IS NOT NULL
    GROUP BY 1
    ORDER BY 1
$function$;

-- The images of the pods of a namespace at a moment.
CREATE FUNCTION images_at(moment timestamp with time zone, of_namespace text)
 RETURNS TABLE(image text, containers bigint)
 LANGUAGE sql
 STABLE ROWS 100
AS $function$
    SELECT c.container ->> 'image', count(*)
    FROM cluster_at(images_at.moment, images_at.of_namespace, 'pods', '') o
    CROSS JOIN LATERAL json_array_elements(o.object -> 'spec' -> 'containers') AS c (container)
    GROUP BY 1
    ORDER BY 1
$function$;

-- Makes the indexes by request id and by namespace of a partition that is written to no more.
CREATE FUNCTION index_requests()
 RETURNS text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET lock_timeout TO '2s'
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
    closed  regclass;
    called  text;
    percent numeric;
    most    bigint;
BEGIN
    FOR attempt IN 1..2 LOOP
        closed := closed_without_requests();
        IF closed IS NULL THEN
            RETURN NULL;
        END IF;
        -- Another server may have made it by the time the lock is there.
        EXECUTE format('LOCK TABLE %s IN SHARE UPDATE EXCLUSIVE MODE', closed);
    END LOOP;
    SELECT relname INTO called FROM pg_class WHERE oid = closed;
    IF lacks_index(closed, 'btree', 'namespace') THEN
        EXECUTE format('CREATE INDEX %I ON %s (namespace, revision)', called || '_by_namespace', closed);
    END IF;
    IF lacks_index(closed, 'hash', 'request_id') AND lacks_index(closed, 'btree', 'request_id') THEN
        percent := least(100, 1000 * 100 * 8192.0 / greatest(pg_relation_size(closed), 8192));
        EXECUTE format(
            'SELECT max(s.count) FROM (SELECT count(*) FROM %s TABLESAMPLE SYSTEM (%s) GROUP BY request_id) s', closed, percent
        ) INTO most;
        EXECUTE format(
            'CREATE INDEX %I ON %s USING %s (request_id)',
            called || '_by_request', closed, CASE WHEN most * 100 / percent >= 20000 THEN 'btree' ELSE 'hash' END
        );
    END IF;
    RETURN closed::text;
END $function$;

CREATE FUNCTION keep_epoch(seen bigint, seen_write uuid)
 RETURNS bigint
 LANGUAGE plpgsql
 SET lock_timeout TO '10s'
AS $function$
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
END $function$;

CREATE FUNCTION keep_superseded(leaving regclass, past bigint, copied bigint, newer_than bigint, at_most integer)
 RETURNS TABLE(count bigint, last bigint)
 LANGUAGE plpgsql
AS $function$
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
END $function$;

-- The fields that tell the elements of a list apart, or of two lists.
CREATE FUNCTION keys_of(list jsonb, other jsonb DEFAULT NULL::jsonb)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
    SELECT k.fields
    FROM (VALUES
        (1, '{name}'::text[]), (2, '{type}'), (3, '{containerPort,protocol}'), (4, '{port,protocol}'), (5, '{mountPath}'),
        (6, '{devicePath}'), (7, '{topologyKey,whenUnsatisfiable}'), (8, '{key}'), (9, '{ip}'), (10, '{uid}'), (11, '{id}'),
        (12, '{containerPort}'), (13, '{port}'), (14, '{host}'), (15, '{path}')
    ) AS k (preference, fields)
    WHERE coalesce(keys_of.list -> 0 ?& k.fields, true) AND coalesce(keys_of.other -> 0 ?& k.fields, true) AND (
        -- There are two fields at most.
        SELECT bool_and(jsonb_typeof(e.element) = 'object' AND e.element ?& k.fields)
            AND count(*) = count(DISTINCT (e.list, e.element -> k.fields[1], e.element -> k.fields[2]))
        FROM (
            SELECT 1 AS list, a.element FROM jsonb_array_elements(keys_of.list) AS a (element)
            UNION ALL
            SELECT 2, b.element FROM jsonb_array_elements(keys_of.other) AS b (element)
        ) e
    )
    ORDER BY k.preference
    LIMIT 1
$function$;

CREATE FUNCTION lacks_index(partition regclass, method name, first_column name)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
    SELECT NOT EXISTS (
        SELECT FROM pg_index i
        JOIN pg_class c ON c.oid = i.indexrelid
        JOIN pg_am m ON m.oid = c.relam
        JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
        WHERE i.indrelid = partition AND m.amname = method AND a.attname = first_column
    )
$function$;

CREATE FUNCTION leave_partition()
 RETURNS text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET lock_timeout TO '2s'
 SET search_path TO 'public', 'pg_temp'
AS $function$
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
    BEGIN
        EXECUTE format('LOCK TABLE %s IN SHARE UPDATE EXCLUSIVE MODE NOWAIT', leaving);
    EXCEPTION WHEN lock_not_available THEN
        RETURN 'nothing';
    END;
    SELECT b.* INTO bounds FROM log_bounds b;
    -- Another server has left it meanwhile; there may be a next one.
    IF bounds.low >= past THEN
        RETURN 'more';
    END IF;
    IF bounds.noted < past THEN
        -- A commit that makes a partition writes the bounds too, and holds this lock.
        LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
        UPDATE log_bounds SET noted = past, copied = 0;
        RETURN 'more';
    END IF;
    SELECT * INTO batch FROM keep_superseded(leaving, past, bounds.copied, 0, 250);
    IF batch.count = 250 THEN
        UPDATE log_bounds SET copied = batch.last;
        RETURN 'more';
    END IF;
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    UPDATE log_bounds SET low = past, left_at = clock_timestamp(), copied = 0;
    INSERT INTO left_partitions (high, left_at) VALUES (past, clock_timestamp())
    ON CONFLICT (high) DO UPDATE SET left_at = excluded.left_at;
    RETURN 'left';
END $function$;

-- All fields of an object, with their paths.
CREATE FUNCTION leaves_of(object jsonb)
 RETURNS TABLE(path text, value jsonb)
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE ROWS 50
AS $function$
    WITH RECURSIVE walk AS (
        SELECT '' AS path, object #- '{metadata,managedFields}' AS value, has_parts(object) AS goes_on
        UNION ALL
        SELECT p.path, p.part, has_parts(p.part)
        FROM walk w
        CROSS JOIN LATERAL (
            SELECT CASE WHEN jsonb_typeof(w.value) = 'array' THEN keys_of(w.value) END AS keys OFFSET 0
        ) k
        CROSS JOIN LATERAL parts_of(w.path, w.value, k.keys) p
        WHERE w.goes_on
    )
    SELECT w.path, w.value FROM walk w WHERE w.goes_on IS NOT TRUE
$function$;

CREATE FUNCTION log_partitions()
 RETURNS TABLE(partition regclass, low bigint, high bigint)
 LANGUAGE sql
 STABLE
AS $function$
    SELECT c.oid::regclass,
        substring(b.bound FROM 'FROM \(''(\d+)''\)')::bigint,
        substring(b.bound FROM 'TO \(''(\d+)''\)')::bigint
    FROM pg_inherits i
    JOIN pg_class c ON c.oid = i.inhrelid
    CROSS JOIN LATERAL pg_get_expr(c.relpartbound, c.oid) AS b (bound)
    WHERE i.inhparent = 'revisions'::regclass
    ORDER BY 3
$function$;

CREATE FUNCTION make_partition(needed bigint)
 RETURNS bigint
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
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
END $function$;

CREATE FUNCTION make_partitions_ahead()
 RETURNS integer
 LANGUAGE plpgsql
 SET lock_timeout TO '2s'
AS $function$
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
END $function$;

CREATE FUNCTION make_schema_of_views()
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
    owner name := (SELECT pg_get_userbyid(n.nspowner) FROM pg_namespace n WHERE n.nspname = 'crd');
BEGIN
    IF owner IS NULL THEN
        CREATE SCHEMA crd;
        COMMENT ON SCHEMA crd IS 'Objects of custom resources: a view for each. Shows them to those who may read current_objects.';
    ELSIF owner <> current_user THEN
        RAISE EXCEPTION 'the schema crd, in which custom resources have their views, belongs to %', owner
            USING HINT = format('Give it another name, or give it to %s.', current_user);
    END IF;
    IF to_regprocedure('crd.text_at(json, text[])') IS NOT NULL THEN
        RETURN;
    END IF;
    CREATE FUNCTION crd.text_at(object json, path text[]) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT AS $$
    BEGIN
        RETURN object #>> path;
    EXCEPTION WHEN OTHERS THEN
        RETURN NULL;
    END $$;
    CREATE FUNCTION crd.item_at(object json, path text[], key text, value text) RETURNS json
    LANGUAGE plpgsql IMMUTABLE STRICT AS $$
    BEGIN
        RETURN (SELECT e.item FROM json_array_elements(object #> path) e (item) WHERE e.item ->> key = value LIMIT 1);
    EXCEPTION WHEN OTHERS THEN
        RETURN NULL;
    END $$;
    CREATE FUNCTION crd.to_time(value text) RETURNS timestamptz
    LANGUAGE plpgsql STABLE STRICT AS $$
    BEGIN
        RETURN CASE WHEN value ~ '^\d{4}-\d\d-\d\d([Tt ]\d\d:\d\d.*)?$' THEN value::timestamptz END;
    EXCEPTION WHEN OTHERS THEN
        RETURN NULL;
    END $$;
    CREATE FUNCTION crd.to_integer(value text) RETURNS bigint
    LANGUAGE sql IMMUTABLE STRICT AS $$ SELECT CASE WHEN value ~ '^-?\d{1,18}$' THEN value::bigint END $$;
    CREATE FUNCTION crd.to_number(value text) RETURNS numeric
    LANGUAGE sql IMMUTABLE STRICT AS $$
        SELECT CASE WHEN length(value) < 400 AND value ~ '^-?\d+(\.\d+)?([eE][+-]?\d{1,3})?$' THEN value::numeric END
    $$;
    CREATE FUNCTION crd.to_boolean(value text) RETURNS boolean
    LANGUAGE sql IMMUTABLE STRICT AS $$ SELECT CASE value WHEN 'true' THEN true WHEN 'false' THEN false END $$;
    -- Who may read current_objects is asked by each view.
    GRANT USAGE ON SCHEMA crd TO PUBLIC;
END $function$;

CREATE FUNCTION mark_of_view(of_group text, of_resource text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$ SELECT format('Objects of %s.%s (', of_resource, of_group) $function$;

CREATE FUNCTION missing_witnesses()
 RETURNS SETOF uuid
 LANGUAGE sql
 STABLE
AS $function$
    SELECT w.server
    FROM witnesses w
    WHERE w.place <> database_place() AND w.renewed_at > (SELECT max(l.renewed_at) FROM witnesses l) - interval '10 seconds'
$function$;

CREATE FUNCTION next_partition_size()
 RETURNS bigint
 LANGUAGE sql
 STABLE
AS $function$
    SELECT least(greatest(written.newest - written.before, 10000), 50000000)
    FROM (
        SELECT (SELECT max(r.revision) FROM revisions r) AS newest,
            greatest(
                revision_at(clock_timestamp() - least(
                    coalesce(c.history_window, '5 minutes') / 8,
                    greatest(
                        (SELECT min(make_interval(secs => (s.value ->> 'window')::float8)) FROM jsonb_each(c.shorter) s),
                        c.history_window / 30
                    )
                )),
                c.revision,
                (SELECT max(e.epoch) FROM epochs e)
            ) AS before
        FROM compaction c
    ) written
$function$;

CREATE FUNCTION note_copied(the_move uuid, up_to bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
    PERFORM assert_arriving(the_move);
    UPDATE arrival SET copied_to = up_to;
END $function$;

CREATE FUNCTION object_at(of_group text, of_resource text, of_namespace text, of_name text, at bigint)
 RETURNS json
 LANGUAGE sql
 STABLE
AS $function$
    SELECT CASE WHEN s.verb = 'delete' THEN NULL ELSE s.object END
    FROM (
        (
            SELECT r.revision, r.verb, r.object
            FROM history r
            WHERE r.api_group = of_group AND r.resource = of_resource AND r.namespace = of_namespace AND r.name = of_name
              AND r.revision <= (SELECT assert_in_history(object_at.at, of_group, of_resource))
            ORDER BY r.revision DESC
            LIMIT 1
        )
        UNION ALL
        SELECT p.revision, 'update', p.object
        FROM superseded_objects p
        WHERE p.api_group = of_group AND p.resource = of_resource AND p.namespace = of_namespace AND p.name = of_name
          AND p.revision <= (SELECT assert_in_history(object_at.at)) AND p.superseded_by > object_at.at
        UNION ALL
        SELECT o.revision, 'update', o.object
        FROM current_objects o
        WHERE o.api_group = of_group AND o.resource = of_resource AND o.namespace = of_namespace AND o.name = of_name
          AND o.revision <= (SELECT assert_in_history(object_at.at))
    ) s
    ORDER BY s.revision DESC
    LIMIT 1
$function$;

-- An object as it was at a revision or a moment, written as text.
CREATE FUNCTION object_at(of_group text, of_resource text, of_namespace text, of_name text, at text)
 RETURNS json
 LANGUAGE plpgsql
 STABLE
AS $function$
BEGIN
    RETURN object_at(of_group, of_resource, of_namespace, of_name, revision_of(at));
END $function$;

CREATE FUNCTION object_at(of_group text, of_resource text, of_namespace text, of_name text, moment timestamp with time zone)
 RETURNS json
 LANGUAGE sql
 STABLE
AS $function$
    SELECT object_at(of_group, of_resource, of_namespace, of_name, revision_at(moment))
$function$;

CREATE FUNCTION partitions_to_thin()
 RETURNS TABLE(high bigint, partition regclass, low bigint, names text[], revisions bigint[])
 LANGUAGE sql
 STABLE
AS $function$
    SELECT p.high, p.partition, p.low, array_agg(k.name) AS names, array_agg(k.revision) AS revisions
    FROM log_partitions() p
    JOIN (
        SELECT s.key AS name, (s.value ->> 'revision')::bigint AS revision, (s.value ->> 'thinned')::bigint AS thinned,
            revision_at(clock_timestamp() - make_interval(secs => 2 * (s.value ->> 'window')::float8)) AS up_to
        FROM compaction c, jsonb_each(c.shorter) s
        WHERE s.value ->> 'window' IS NOT NULL
    ) k ON k.thinned < p.high AND k.up_to >= p.high - 1 AND k.revision >= p.high - 1
    WHERE p.low IS NOT NULL AND p.high - 1 > (SELECT c.revision FROM compaction c) AND p.high > (SELECT b.noted FROM log_bounds b)
      AND p.high <= (SELECT max(r.revision) FROM revisions r)
      -- Loads read no bytes from it any more.
      AND p.high - 1 <= (SELECT coalesce(f.filled_to, p.high) FROM filling f)
    GROUP BY p.high, p.partition, p.low
    ORDER BY p.high
$function$;

-- The fields of an object or the elements of a list, with their paths.
CREATE FUNCTION parts_of(parent text, value jsonb, keys text[])
 RETURNS TABLE(path text, part jsonb)
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE ROWS 10
AS $function$
    SELECT path_of(parent, m.key), m.value
    FROM jsonb_each(CASE WHEN jsonb_typeof(value) = 'object' THEN value END) m
    UNION ALL
    SELECT
        parent || '[' || coalesce(
            nullif(
                concat_ws(',', keys[1] || '=' || (l.element ->> keys[1]), keys[2] || '=' || (l.element ->> keys[2])), ''
            ),
            (l.place - 1)::text
        ) || ']',
        l.element
    FROM jsonb_array_elements(CASE WHEN jsonb_typeof(value) = 'array' THEN value END) WITH ORDINALITY AS l (element, place)
$function$;

-- The path of a field: spec.replicas, metadata.annotations["a.example/b"].
CREATE FUNCTION path_of(parent text, name text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
    SELECT CASE
        WHEN name !~ '^[A-Za-z_][A-Za-z0-9_-]*$' THEN parent || '[' || to_json(name)::text || ']'
        WHEN parent = '' THEN name
        ELSE parent || '.' || name
    END
$function$;

CREATE FUNCTION path_of_view(keys json)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE
AS $function$
    SELECT coalesce(array_agg(k.key ORDER BY k.place), '{}') FROM json_array_elements_text(keys) WITH ORDINALITY k (key, place)
$function$;

-- For servers: makes the views of a custom resource.
CREATE FUNCTION put_custom_resource_view(of_group text, of_resource text, columns json, digest text)
 RETURNS text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET lock_timeout TO '2s'
AS $function$
DECLARE
    objects regclass := 'current_objects'::regclass;
    comment text := mark_of_view(of_group, of_resource) || digest || ')';
    made    text := 'nothing';
    listed  text;
    known   text;
    of      record;
BEGIN
    IF json_array_length(columns) > 300 THEN
        RAISE EXCEPTION 'a view of custom resources has at most 300 columns of its own';
    END IF;
    PERFORM pg_advisory_xact_lock(hashtext('custom resource views'), 0);
    PERFORM make_schema_of_views();
    SELECT coalesce(string_agg(format('%s AS %I, ', column_of_view(c.item), c.item ->> 'name'), '' ORDER BY c.place), '')
    INTO listed
    FROM json_array_elements(columns) WITH ORDINALITY c (item, place);
    FOR of IN SELECT v.name FROM unnest(ARRAY[view_name(of_resource || '.' || of_group), of_resource]) v (name) LOOP
        known := NULL;
        IF to_regclass(format('crd.%I', of.name)) IS NOT NULL THEN
            known := coalesce(obj_description(to_regclass(format('crd.%I', of.name)), 'pg_class'), '');
            CONTINUE WHEN known = comment OR NOT starts_with(known, mark_of_view(of_group, of_resource));
        END IF;
        BEGIN
            IF known IS NOT NULL THEN
                EXECUTE format('DROP VIEW crd.%I', of.name);
            END IF;
            EXECUTE format(
                'CREATE VIEW crd.%I WITH (security_barrier) AS SELECT namespace, name, %s object FROM %s'
                    || ' WHERE api_group = %L AND resource = %L AND has_table_privilege(%L::regclass, %L)',
                of.name, listed, objects, of_group, of_resource, objects, 'SELECT'
            );
            EXECUTE format('COMMENT ON VIEW crd.%I IS %L', of.name, comment);
            EXECUTE format('GRANT SELECT ON crd.%I TO PUBLIC', of.name);
            made := 'made';
        EXCEPTION WHEN dependent_objects_still_exist THEN
            RETURN 'kept';
        END;
    END LOOP;
    RETURN made;
END $function$;

CREATE FUNCTION qualified_resource(of_group text, of_resource text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
    SELECT of_resource || CASE WHEN of_group = '' THEN '' ELSE '.' || of_group END
$function$;

-- A quantity of Kubernetes as a number; null for what is none.
CREATE FUNCTION quantity(written text)
 RETURNS numeric
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
    SELECT q.parts[1]::numeric * CASE
        WHEN q.parts[2] ~ '^[eE].' THEN power(10::numeric, substr(q.parts[2], 2)::int)
        WHEN q.parts[2] ~ 'i$' THEN power(1024::numeric, strpos('KMGTPE', left(q.parts[2], 1)))
        WHEN q.parts[2] IN ('n', 'u', 'm') THEN power(1000::numeric, strpos('num', q.parts[2]) - 4)
        ELSE power(1000::numeric, strpos('kMGTPE', q.parts[2]) * sign(length(q.parts[2]))::int)
    END
    FROM regexp_matches(
        quantity.written, '^([+-]?(?:\d+\.?\d*|\.\d+))([numkMGTPE]|[KMGTPE]i|[eE][+-]?\d{1,3}|)$'
    ) AS q (parts)
$function$;

-- What is shown of an object: itself, where its bytes are JSON or YAML; else, as for protobuf and what is encrypted,
-- what they are and how many.
CREATE FUNCTION readable_object(object json, encoded bytea, media_type text)
 RETURNS json
 LANGUAGE plpgsql
 STABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET standard_conforming_strings TO 'on'
 SET debug_print_parse TO 'off'
 SET debug_print_rewritten TO 'off'
 SET debug_print_plan TO 'off'
AS $function$
BEGIN
    IF object IS NOT NULL OR encoded IS NULL THEN
        RETURN object;
    END IF;
    IF media_type = 'application/yaml'::text THEN
        BEGIN
            RETURN (
                SELECT '{'::text || string_agg(coalesce(
                    CASE WHEN l.line LIKE '"%'::text THEN substring(l.line FROM '^("(?:[^"\\]|\\.)*"): '::text)
                        ELSE to_json(substring(l.line FROM '^([A-Za-z][A-Za-z0-9]*): '::text))::text END
                    || ':'::text || substring(l.line FROM '^(?:[A-Za-z][A-Za-z0-9]*|"(?:[^"\\]|\\.)*"): (.*)$'::text),
                    -- Not JSON, so that no field is left out.
                    '?'::text
                ), ','::text ORDER BY l.at) || '}'::text
                FROM unnest(string_to_array(rtrim(convert_from(encoded, 'UTF8'::name), E'\n'::text), E'\n'::text)) WITH ORDINALITY
                    AS l (line, at)
            )::json;
        EXCEPTION WHEN OTHERS THEN
            -- Written by hand.
            NULL;
        END;
    END IF;
    RETURN json_build_object(
        'encoded'::text, json_build_object('mediaType'::text, media_type, 'sizeBytes'::text, octet_length(encoded))
    );
END $function$;

CREATE FUNCTION readers_of_partition(leaving regclass)
 RETURNS integer[]
 LANGUAGE sql
AS $function$
    SELECT coalesce(array_agg(DISTINCT l.pid ORDER BY l.pid), '{}')
    FROM pg_locks l
    JOIN pg_stat_activity a ON a.pid = l.pid AND a.application_name NOT LIKE 'pg-apiserver %'
    WHERE l.locktype = 'relation' AND l.granted AND l.relation = leaving
      AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
      AND l.pid <> pg_backend_pid() AND a.backend_type = 'client backend'
$function$;

-- After migrations: those who serve and those who read are given what is new.
CREATE FUNCTION renew_grants()
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
    of record;
BEGIN
    FOR of IN SELECT f.function FROM functions_of_owner() f LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', of.function);
    END LOOP;
    FOR of IN
        SELECT DISTINCT pg_get_userbyid(a.grantee) AS name, c.relname = 'commit_order' AS serves
        FROM pg_class c, aclexplode(c.relacl) a
        WHERE (c.oid, a.privilege_type) IN (
                ('commit_order'::regclass, 'UPDATE'), ('superseded_objects'::regclass, 'SELECT')
            )
          AND a.grantee NOT IN (0, c.relowner)
    LOOP
        IF of.serves THEN
            PERFORM grant_server(of.name);
        ELSE
            PERFORM grant_reader(of.name);
        END IF;
    END LOOP;
END $function$;

CREATE FUNCTION renew_witness(witness uuid)
 RETURNS void
 LANGUAGE plpgsql
 SET lock_timeout TO '2s'
AS $function$
BEGIN
    PERFORM assure_durability();
    INSERT INTO witnesses AS w SELECT witness, p.place, clock_timestamp() FROM history_place p
    ON CONFLICT (server) DO UPDATE SET place = excluded.place, renewed_at = excluded.renewed_at;
    DELETE FROM witnesses w WHERE w.renewed_at < clock_timestamp() - interval '1 hour';
END $function$;

CREATE FUNCTION repair_allocations(of_group text, of_resource text, holders json)
 RETURNS TABLE(outcome text, pool text, value text, namespace text, name text)
 LANGUAGE plpgsql
 SET lock_timeout TO '10s'
AS $function$
#variable_conflict use_column
DECLARE
    -- The values of unchanged objects; and those objects, also when they hold none.
    stated    json;
    unchanged json;
BEGIN
    -- Writes wait: what is read here must still be so when it is put right.
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    PERFORM assure_durability();
    SELECT coalesce(json_agg(json_build_object('namespace', g.namespace, 'name', g.name)), '[]') INTO unchanged
    FROM json_to_recordset(holders) AS g (namespace text, name text, revision bigint)
    JOIN objects h ON h.api_group = of_group AND h.resource = of_resource AND h.namespace = g.namespace AND h.name = g.name
        AND h.revision = g.revision;
    SELECT coalesce(json_agg(json_build_object(
        'ordinal', g.ordinal, 'namespace', g.namespace, 'name', g.name, 'pool', v.pool, 'value', v.value
    )), '[]') INTO stated
    FROM json_to_recordset(holders) AS g (ordinal int, namespace text, name text, revision bigint, values json)
    JOIN objects h ON h.api_group = of_group AND h.resource = of_resource AND h.namespace = g.namespace AND h.name = g.name
        AND h.revision = g.revision
    CROSS JOIN LATERAL json_to_recordset(g.values) AS v (pool text, value text);

    RETURN QUERY
    DELETE FROM allocations l
    WHERE l.api_group = of_group AND l.resource = of_resource AND (
        NOT EXISTS (
            SELECT FROM objects h
            WHERE h.api_group = l.api_group AND h.resource = l.resource AND h.namespace = l.namespace AND h.name = l.name
        ) OR (
            (l.namespace, l.name) IN (
                SELECT u.namespace, u.name FROM json_to_recordset(unchanged) AS u (namespace text, name text)
            )
            AND (l.namespace, l.name, l.pool, l.value) NOT IN (
                SELECT s.namespace, s.name, s.pool, s.value
                FROM json_to_recordset(stated) AS s (namespace text, name text, pool text, value text)
            )
        )
    )
    RETURNING 'removed', l.pool, l.value, l.namespace, l.name;

    RETURN QUERY
    INSERT INTO allocations AS l (pool, value, api_group, resource, namespace, name, allocated_at)
    SELECT DISTINCT ON (s.pool, s.value) s.pool, s.value, of_group, of_resource, s.namespace, s.name, now()
    FROM json_to_recordset(stated) AS s (ordinal int, namespace text, name text, pool text, value text)
    ORDER BY s.pool, s.value, s.ordinal
    ON CONFLICT DO NOTHING
    RETURNING 'added', l.pool, l.value, l.namespace, l.name;

    RETURN QUERY
    SELECT 'contested', s.pool, s.value, s.namespace, s.name
    FROM json_to_recordset(stated) AS s (ordinal int, namespace text, name text, pool text, value text)
    JOIN allocations l ON l.pool = s.pool AND l.value = s.value
    WHERE (l.api_group, l.resource, l.namespace, l.name) <> (of_group, of_resource, s.namespace, s.name)
    ORDER BY s.ordinal, s.pool, s.value;
END $function$;

CREATE FUNCTION report_move(the_move uuid, of_server uuid, its_trouble text, has_moved boolean)
 RETURNS void
 LANGUAGE sql
AS $function$
    INSERT INTO move_servers (move, server, trouble, moved)
    SELECT m.move, of_server, its_trouble, has_moved FROM moves m WHERE m.move = the_move
    ON CONFLICT (move, server) DO UPDATE SET trouble = excluded.trouble, moved = excluded.moved
$function$;

CREATE FUNCTION resources_in_history()
 RETURNS TABLE(api_group text, resource text)
 LANGUAGE sql
 STABLE ROWS 50
 SET enable_sort TO 'off'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
AS $function$
    WITH RECURSIVE found AS (
        SELECT '' COLLATE "C" AS api_group, '' COLLATE "C" AS resource
        UNION ALL
        SELECT next.api_group, next.resource
        FROM found f
        CROSS JOIN LATERAL (
            (
                SELECT h.api_group, h.resource FROM history h
                WHERE (h.api_group, h.resource) > (f.api_group, f.resource)
                ORDER BY h.api_group, h.resource
                LIMIT 1
            )
            UNION ALL
            (
                SELECT o.api_group, o.resource FROM current_objects o
                WHERE (o.api_group, o.resource) > (f.api_group, f.resource)
                ORDER BY o.api_group, o.resource
                LIMIT 1
            )
            UNION ALL
            (
                SELECT s.api_group, s.resource FROM superseded_objects s
                WHERE (s.api_group, s.resource) > (f.api_group, f.resource)
                ORDER BY s.api_group, s.resource
                LIMIT 1
            )
            ORDER BY api_group, resource
            LIMIT 1
        ) next
    )
    SELECT f.api_group, f.resource FROM found f WHERE f.resource <> ''
$function$;

-- Seconds that the oldest row of history lies behind the window, and how many partitions do as a whole.
CREATE FUNCTION retention(OUT behind_s double precision, OUT partitions bigint)
 RETURNS record
 LANGUAGE sql
 STABLE
AS $function$
    SELECT
        greatest(0, extract(epoch FROM clock_timestamp() - c.history_window - o.committed_at))::float8,
        (SELECT count(*) FROM log_partitions() p WHERE p.high - 1 <= c.revision)
    FROM compaction c
    LEFT JOIN LATERAL (SELECT r.committed_at FROM revisions r ORDER BY r.revision LIMIT 1) o ON true
$function$;

CREATE FUNCTION revision_at(moment timestamp with time zone)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
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
    RETURN greatest(
        cut.revision,
        (SELECT max(r.revision) FROM revisions r WHERE r.revision <= low),
        (SELECT max(e.epoch) FROM epochs e WHERE e.began_at <= moment)
    );
END $function$;

-- The revision that is meant by its number, or by a moment: the newest one then.
CREATE FUNCTION revision_of(at text)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
AS $function$
BEGIN
    IF at ~ '^\s*\d+\s*$' THEN
        RETURN at::bigint;
    END IF;
    RETURN revision_at(at::timestamptz);
END $function$;

CREATE FUNCTION revisions_to_move(of_group text, of_resource text, after bigint, at_most integer)
 RETURNS TABLE("row" text, namespace text, name text, revision bigint)
 LANGUAGE plpgsql
 STABLE
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_sort TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
BEGIN
    RETURN QUERY
    SELECT row_to_json(r)::text, r.namespace, r.name, r.revision
    FROM revisions r
    WHERE r.api_group = of_group AND r.resource = of_resource AND r.revision > after
    ORDER BY r.revision
    LIMIT at_most;
END $function$;

-- Tells servers that poll, because they may not replicate or get no slot, of a commit.
CREATE FUNCTION ring_for_commits()
 RETURNS void
 LANGUAGE sql
AS $function$
    SELECT pg_notify('pg_apiserver_commits_' || 'commit_order'::regclass::oid, '') WHERE pg_notification_queue_usage() < 0.5
$function$;

CREATE FUNCTION servers_of_move(the_move uuid)
 RETURNS TABLE(server uuid, trouble text, moved boolean)
 LANGUAGE sql
 STABLE
AS $function$
    SELECT w.server, s.trouble, coalesce(s.moved, false)
    FROM witnesses w
    LEFT JOIN move_servers s ON s.move = the_move AND s.server = w.server
    WHERE w.renewed_at > clock_timestamp() - interval '15 seconds'
    ORDER BY w.server
$function$;

CREATE FUNCTION set_shorter_histories(windows jsonb)
 RETURNS void
 LANGUAGE sql
AS $function$
    UPDATE compaction c
    SET shorter = coalesce((
        SELECT jsonb_object_agg(
            coalesce(w.key, s.key),
            coalesce(s.value, '{"revision": 0, "thinned": 0}') || jsonb_build_object('window', w.value)
        )
        FROM jsonb_each(windows) w
        FULL JOIN jsonb_each(c.shorter) s ON s.key = w.key
        WHERE w.key IS NOT NULL OR (s.value ->> 'revision')::bigint > c.revision
    ), '{}')
$function$;

CREATE FUNCTION take_objects(the_move uuid, given json)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
    PERFORM assert_arriving(the_move);
    INSERT INTO objects SELECT * FROM json_populate_recordset(NULL::objects, given);
END $function$;

CREATE FUNCTION take_revisions(the_move uuid, given json, last bigint)
 RETURNS void
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
DECLARE
    bounds log_bounds;
    newest bigint;
BEGIN
    PERFORM assert_arriving(the_move);
    SELECT b.* INTO bounds FROM log_bounds b;
    SELECT coalesce(max(r.revision), 0) INTO newest FROM revisions r;
    IF last <= newest THEN
        RETURN;
    END IF;
    IF last >= bounds.high THEN
        PERFORM make_partition(last);
    END IF;

    INSERT INTO revisions (
        revision, api_group, resource, namespace, name, uid, verb, previous_revision, object, encoded, media_type, committed_at,
        write_id, expires_at, username, user_agent, source_address, request_id, field_manager, follows_revision
    )
    SELECT
        g.revision, g.api_group, g.resource, g.namespace, g.name, g.uid, g.verb, g.previous_revision, g.object, g.encoded,
        g.media_type, g.committed_at, g.write_id, g.expires_at, g.username, g.user_agent, g.source_address, g.request_id,
        g.field_manager, lag(g.revision, 1, newest) OVER (ORDER BY g.revision)
    FROM json_populate_recordset(NULL::revisions, given) g
    WHERE g.revision > newest;

    INSERT INTO superseded (
        revision, superseded_by, api_group, resource, namespace, name, uid, object, encoded, media_type, committed_at
    )
    SELECT o.revision, r.revision, o.api_group, o.resource, o.namespace, o.name, o.uid, o.object, o.encoded, o.media_type,
        o.modified_at
    FROM revisions r
    CROSS JOIN LATERAL (
        SELECT * FROM objects p
        WHERE p.api_group = r.api_group AND p.resource = r.resource AND p.namespace = r.namespace AND p.name = r.name
        LIMIT 1
    ) o
    WHERE r.revision > newest AND r.previous_revision < bounds.noted AND r.previous_revision = o.revision
    ON CONFLICT DO NOTHING;

    WITH latest AS MATERIALIZED (
        SELECT DISTINCT ON (r.api_group, r.resource, r.namespace, r.name)
            r.api_group, r.resource, r.namespace, r.name, r.uid, r.verb, r.revision, r.expires_at, r.committed_at
        FROM revisions r
        WHERE r.revision > newest
        ORDER BY r.api_group, r.resource, r.namespace, r.name, r.revision DESC
    ), gone AS (
        DELETE FROM objects o
        USING latest l
        WHERE l.verb = 'delete' AND o.api_group = l.api_group AND o.resource = l.resource AND o.namespace = l.namespace AND o.name = l.name
    )
    INSERT INTO objects AS o (api_group, resource, namespace, name, revision, uid, expires_at, modified_at)
    SELECT l.api_group, l.resource, l.namespace, l.name, l.revision, l.uid, l.expires_at, l.committed_at
    FROM latest l
    WHERE l.verb <> 'delete'
    ON CONFLICT (api_group, resource, namespace, name) DO UPDATE
    SET revision = excluded.revision, uid = excluded.uid, expires_at = excluded.expires_at, modified_at = excluded.modified_at,
        object = NULL, encoded = NULL, media_type = NULL;
END $function$;

CREATE FUNCTION take_superseded(the_move uuid, given json)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
    PERFORM assert_arriving(the_move);
    INSERT INTO superseded SELECT * FROM json_populate_recordset(NULL::superseded, given);
END $function$;

CREATE FUNCTION tell_of_move(the_move uuid, of_group text, of_resource text, phase text)
 RETURNS bigint
 LANGUAGE plpgsql
 SET lock_timeout TO '10s'
AS $function$
DECLARE
    called  text := of_resource || CASE WHEN of_group = '' THEN '' ELSE '.' || of_group END;
    present bigint;
    told    bigint[];
BEGIN
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    SELECT o.revision INTO present
    FROM objects o
    WHERE o.api_group = 'storage.cluster.io' AND o.resource = 'moves' AND o.namespace = '' AND o.name = called;
    SELECT c.accepted INTO told
    FROM commit_revisions(
        ARRAY[format(
            '{"kind":"Move","apiVersion":"storage.cluster.io/v1","metadata":{"name":%s,"uid":%s},"spec":{"group":%s,"resource":%s},"status":{"phase":%s}}',
            to_json(called), to_json(the_move::text), to_json(of_group), to_json(of_resource), to_json(phase)
        )::json],
        ARRAY[CASE WHEN present IS NULL THEN 'create' ELSE 'update' END],
        ARRAY['storage.cluster.io'], ARRAY['moves'], ARRAY[''], ARRAY[called], ARRAY[the_move::text], ARRAY[coalesce(present, 0)],
        ARRAY[gen_random_uuid()], ARRAY[NULL::timestamptz], ARRAY[session_user::text], ARRAY['pg-apiserver'], ARRAY[''], ARRAY[''],
        ARRAY['move'], NULL, NULL, NULL, NULL::bytea[], NULL::text[]
    ) c;
    RETURN told[1];
END $function$;

CREATE FUNCTION thin_partition()
 RETURNS text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET lock_timeout TO '200ms'
 SET search_path TO 'public', 'pg_temp'
AS $function$
#variable_conflict use_variable
DECLARE
    due       thinning;
    first     bigint;
    kinds     record;
    gone      text;
    size      record;
    fresh     text;
    target    int;
    is_due    boolean;
    readers   integer[];
BEGIN
    IF NOT (SELECT c.thins FROM compaction c) THEN
        RETURN 'nothing';
    END IF;
    BEGIN
        LOCK TABLE thinning IN SHARE UPDATE EXCLUSIVE MODE NOWAIT;
    EXCEPTION WHEN lock_not_available THEN
        RETURN 'nothing';
    END;

    SELECT t.* INTO due FROM thinning t;
    IF FOUND THEN
        -- The window has left it meanwhile.
        IF (SELECT b.noted FROM log_bounds b) >= due.high OR (SELECT c.revision FROM compaction c) >= due.high - 1 THEN
            EXECUTE format('DROP TABLE %s', due.copy);
            DELETE FROM thinning;
            RETURN 'passed';
        END IF;
        IF due.waits_for IS NULL THEN
            UPDATE thinning SET waits_for = (
                SELECT coalesce(array_agg(l.virtualtransaction), '{}')
                FROM pg_locks l
                JOIN pg_stat_activity a ON a.pid = l.pid AND a.datname = current_database()
                WHERE l.locktype = 'virtualxid' AND l.granted AND l.pid <> pg_backend_pid()
            )
            RETURNING waits_for INTO due.waits_for;
        END IF;
        IF EXISTS (SELECT FROM pg_locks l WHERE l.locktype = 'virtualxid' AND l.granted AND l.virtualtransaction = ANY (due.waits_for)) THEN
            RETURN 'waits';
        END IF;
        readers := readers_of_partition(due.partition);
        IF readers <> '{}' THEN
            RAISE 'partition % is read by the backends %', due.partition, readers
                USING ERRCODE = 'lock_not_available', DETAIL = array_to_string(readers, ',');
        END IF;
        LOCK TABLE revisions IN ACCESS EXCLUSIVE MODE;
        SELECT p.low INTO STRICT first FROM log_partitions() p WHERE p.partition = due.partition;
        EXECUTE format('ALTER TABLE revisions DETACH PARTITION %s', due.partition);
        EXECUTE format('DROP TABLE %s', due.partition);
        EXECUTE format('ALTER TABLE revisions ATTACH PARTITION %s FOR VALUES FROM (%s) TO (%s)', due.copy, first, due.high);
        EXECUTE format('ALTER TABLE %s DROP CONSTRAINT within', due.copy);
        UPDATE compaction SET thinned = greatest(thinned, due.high - 1);
        DELETE FROM thinning;
        RETURN 'thinned';
    END IF;

    SELECT * INTO kinds FROM partitions_to_thin() LIMIT 1;
    IF kinds.partition IS NULL THEN
        RETURN 'nothing';
    END IF;
    EXECUTE format('LOCK TABLE %s IN SHARE UPDATE EXCLUSIVE MODE', kinds.partition);
    gone := format(
        'SELECT x.revision, x.bytes
         FROM (
            SELECT r.revision, r.verb, r.api_group, r.resource, r.namespace, r.name, d.up_to,
                300 + coalesce(pg_column_size(r.object), pg_column_size(r.encoded), 0) AS bytes,
                lead(r.revision) OVER (PARTITION BY r.api_group, r.resource, r.namespace, r.name ORDER BY r.revision) AS next
            FROM %1$s r
            JOIN unnest(%2$L::text[], %3$L::bigint[]) AS d (name, up_to)
                ON d.name = r.resource || CASE WHEN r.api_group = '''' THEN '''' ELSE ''.'' || r.api_group END
         ) x
         WHERE x.revision < %5$s AND CASE
            WHEN x.verb = ''delete'' THEN NOT EXISTS (
                SELECT FROM revisions o
                WHERE o.api_group = x.api_group AND o.resource = x.resource AND o.namespace = x.namespace AND o.name = x.name
                  AND o.revision < %4$s
            )
            ELSE x.next IS NOT NULL OR EXISTS (
                SELECT FROM revisions n
                WHERE n.api_group = x.api_group AND n.resource = x.resource AND n.namespace = x.namespace AND n.name = x.name
                  AND n.revision > x.revision AND n.revision <= x.up_to
            )
         END',
        kinds.partition, kinds.names, kinds.revisions, kinds.low, kinds.high - 1
    );
    EXECUTE format(
        'SELECT (SELECT coalesce(sum(g.bytes), 0) FROM (%s) g) AS gone,
            (SELECT coalesce(sum(300 + coalesce(pg_column_size(r.object), pg_column_size(r.encoded), 0)), 0) FROM %s r) AS whole',
        gone, kinds.partition
    ) INTO size;
    -- What stays is written once more: that is worth it where at least half goes.
    is_due := size.gone > 0 AND size.gone * 2 >= size.whole;
    IF is_due THEN
        fresh := format('revisions_%s_from_%s', kinds.low, (SELECT max(r.revision) FROM revisions r));
        SELECT CASE a.attcompression WHEN 'l' THEN 4080 ELSE 8160 END INTO target
        FROM pg_attribute a
        WHERE a.attrelid = 'revisions'::regclass AND a.attname = 'object';
        EXECUTE format(
            'CREATE TABLE %I (
                LIKE %s INCLUDING DEFAULTS INCLUDING STORAGE INCLUDING COMPRESSION INCLUDING CONSTRAINTS INCLUDING INDEXES,
                CONSTRAINT within CHECK (revision >= %s AND revision < %s)
            ) WITH (toast_tuple_target = %s)',
            fresh, kinds.partition, kinds.low, kinds.high, target
        );
        EXECUTE (
            SELECT format('ALTER TABLE %I %s', fresh, string_agg(format('ALTER COLUMN %I SET STATISTICS 10', a.attname), ', '))
            FROM pg_attribute a
            WHERE a.attrelid = fresh::regclass AND a.attnum > 0 AND NOT a.attisdropped
        );
        EXECUTE format(
            'INSERT INTO %I SELECT r.* FROM %s r WHERE NOT EXISTS (SELECT FROM (%s) g WHERE g.revision = r.revision) ORDER BY r.revision',
            fresh, kinds.partition, gone
        );
        INSERT INTO thinning (high, partition, copy) VALUES (kinds.high, kinds.partition, fresh::regclass);
    END IF;
    -- Last, because servers that start wait for this row.
    UPDATE compaction c SET shorter = (
        SELECT jsonb_object_agg(
            s.key, CASE WHEN s.key = ANY (kinds.names) THEN s.value || jsonb_build_object('thinned', kinds.high) ELSE s.value END
        )
        FROM jsonb_each(c.shorter) s
    );
    RETURN CASE WHEN is_due THEN 'copied' ELSE 'passed' END;
END $function$;

CREATE FUNCTION thinning_is_due()
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
    SELECT c.thins AND (EXISTS (SELECT FROM thinning) OR EXISTS (SELECT FROM partitions_to_thin())) FROM compaction c
$function$;

-- What happened in a namespace since a moment, with the fields that changed.
CREATE FUNCTION timeline(of_namespace text, since timestamp with time zone DEFAULT '-infinity'::timestamp with time zone)
 RETURNS TABLE(revision bigint, at timestamp with time zone, who text, manager text, verb text, what text, name text, changed text[], request_id text)
 LANGUAGE sql
 STABLE
AS $function$
    SELECT h.revision, h.at, h.who, h.manager, h.verb, h.what, h.name, c.changed, h.request_id
    FROM history h
    CROSS JOIN LATERAL (
        SELECT array_agg(c.path ORDER BY c.path) FILTER (WHERE c.path <> '') AS changed
        FROM changes c
        WHERE c.revision = h.revision
    ) c
    WHERE h.namespace = of_namespace
      AND h.at >= since AND h.revision > (SELECT coalesce(revision_at(since - interval '1 microsecond'), 0))
    ORDER BY h.revision
$function$;

-- What happened in a namespace between two moments, oldest first, with the fields that changed. most: the newest so
-- many.
CREATE FUNCTION timeline(of_namespace text, since timestamp with time zone, until timestamp with time zone, most bigint DEFAULT NULL::bigint)
 RETURNS TABLE(revision bigint, at timestamp with time zone, who text, manager text, verb text, what text, name text, changed text[], request_id text)
 LANGUAGE sql
 STABLE
AS $function$
    SELECT h.revision, h.at, h.who, h.manager, h.verb, h.what, h.name, c.changed, h.request_id
    FROM (
        SELECT k.revision, k.at, k.who, k.manager, k.verb, k.what, k.name, k.request_id
        FROM history k
        WHERE k.namespace = of_namespace
          AND k.at >= since AND k.revision > (SELECT coalesce(revision_at(since - interval '1 microsecond'), 0))
          AND k.revision <= (SELECT assert_in_history(revision_at(until)))
        ORDER BY k.revision DESC
        LIMIT most
    ) h
    CROSS JOIN LATERAL (
        SELECT array_agg(c.path ORDER BY c.path) FILTER (WHERE c.path <> '') AS changed
        FROM changes c
        WHERE c.revision = h.revision
    ) c
    ORDER BY h.revision
$function$;

CREATE FUNCTION view_name(name text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
    SELECT CASE WHEN octet_length(name) <= 63 THEN name ELSE left(name, 54) || '_' || left(md5(name), 8) END
$function$;

CREATE FUNCTION vouch_history(witness uuid, seen bigint, seen_write uuid, shown bigint, has_lived boolean, OUT epoch bigint, OUT awaits boolean)
 RETURNS record
 LANGUAGE plpgsql
 SET lock_timeout TO '10s'
AS $function$
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
END $function$;

CREATE FUNCTION without_secret_data(object json)
 RETURNS json
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET standard_conforming_strings TO 'on'
 SET debug_print_parse TO 'off'
 SET debug_print_rewritten TO 'off'
 SET debug_print_plan TO 'off'
AS $function$
DECLARE
    parsed jsonb;
BEGIN
    BEGIN
        parsed := object::jsonb;
    EXCEPTION WHEN untranslatable_character OR invalid_text_representation THEN
        -- As as_jsonb does.
        parsed := regexp_replace(object::text, '\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})'::text, '\\ufffd'::text, 'g'::text)::jsonb;
    END;
    RETURN ((parsed - '{data,stringData}'::text[])
        #- '{metadata,annotations,kubectl.kubernetes.io/last-applied-configuration}'::text[])::json;
EXCEPTION WHEN OTHERS THEN
    RETURN '{"kind": "Secret", "apiVersion": "v1"}'::json;
END $function$;

CREATE FUNCTION writes_moved(api_groups text[], resources text[])
 RETURNS integer[]
 LANGUAGE sql
 STABLE
AS $function$
    SELECT coalesce(array_agg(w.i::integer), '{}')
    FROM unnest(api_groups, resources) WITH ORDINALITY AS w (api_group, resource, i)
    JOIN moves m ON m.api_group = w.api_group AND m.resource = w.resource
    WHERE m.moved_at IS NOT NULL OR m.closed_until > clock_timestamp()
$function$;


-- ==================== Views

-- Every changed field: who set it when, from what to what. Hides what current_objects hides, but for the names of the
-- data that changed.
-- Columns: revision bigint, at timestamp with time zone, who text, verb text, what text, namespace text, name text,
-- path text, old jsonb, new jsonb, manager text, user_agent text, source_address text, request_id text,
-- previous_revision bigint, api_group text, resource text, uid text.
CREATE VIEW changes AS
 SELECT h.revision, h.at, h.who, h.verb, h.what, h.namespace, h.name, c.path, c.old, c.new, h.manager, h.user_agent,
    h.source_address, h.request_id, h.previous_revision, h.api_group, h.resource, h.uid
   FROM history h
     LEFT JOIN LATERAL ( SELECT p_1.object
           FROM history p_1
          WHERE p_1.revision = h.previous_revision
        UNION ALL
         SELECT s.object
           FROM superseded_objects s
          WHERE s.revision = h.previous_revision
 LIMIT 1) p ON true
     CROSS JOIN LATERAL changes_between(as_jsonb(p.object),
        CASE
            WHEN h.verb <> 'delete'::text THEN as_jsonb(h.object)
            ELSE NULL::jsonb
        END) c(path, old, new)
UNION ALL
 SELECT r.revision, r.committed_at AS at, r.username AS who, r.verb, r.resource AS what, r.namespace, r.name, k.path,
    NULL::jsonb AS old, NULL::jsonb AS new, r.field_manager AS manager, r.user_agent, r.source_address, r.request_id,
    r.previous_revision, r.api_group, r.resource, r.uid
   FROM revisions r
     JOIN LATERAL ( SELECT p_1.object
           FROM revisions p_1
          WHERE p_1.revision = r.previous_revision
        UNION ALL
         SELECT s.object
           FROM superseded s
          WHERE s.revision = r.previous_revision
 LIMIT 1) p ON true
     CROSS JOIN LATERAL changed_data(p.object, r.object) k(path)
  WHERE r.api_group = ''::text AND r.resource = 'secrets'::text AND r.verb = 'update'::text AND NOT has_table_privilege('secret_data'::regclass::oid, 'SELECT'::text);

-- The conditions of all live objects, a row each.
-- Columns: api_group text, resource text, namespace text, name text, type text, status text, reason text, message
-- text, changed_at text.
CREATE VIEW conditions AS
 SELECT o.api_group, o.resource, o.namespace, o.name, c.condition ->> 'type'::text AS type,
    c.condition ->> 'status'::text AS status, c.condition ->> 'reason'::text AS reason,
    c.condition ->> 'message'::text AS message, c.condition ->> 'lastTransitionTime'::text AS changed_at
   FROM current_objects o
     CROSS JOIN LATERAL json_array_elements(
        CASE
            WHEN json_typeof((o.object -> 'status'::text) -> 'conditions'::text) = 'array'::text THEN (o.object -> 'status'::text) -> 'conditions'::text
            ELSE NULL::json
        END) c(condition);

-- The live objects. What Secrets hold is hidden from those who may not read secret_data: data, stringData, the
-- last-applied annotation, and bytes in another encoding.
-- Columns: api_group text, resource text, namespace text, name text, uid text, revision bigint, object json,
-- modified_at timestamp with time zone, expires_at timestamp with time zone, encoded bytea, media_type text.
CREATE VIEW current_objects AS
 SELECT api_group, resource, namespace, name, uid, revision,
        CASE
            WHEN api_group = ''::text AND resource = 'secrets'::text AND NOT has_table_privilege('secret_data'::regclass::oid, 'SELECT'::text) THEN without_secret_data(object)
            ELSE object
        END AS object,
    modified_at, expires_at,
        CASE
            WHEN api_group = ''::text AND resource = 'secrets'::text AND NOT has_table_privilege('secret_data'::regclass::oid, 'SELECT'::text) THEN NULL::bytea
            ELSE encoded
        END AS encoded,
    media_type
   FROM objects_with_bytes;

-- What was deleted and is not there again, with its last state.
-- Columns: revision bigint, at timestamp with time zone, who text, what text, namespace text, name text, object json,
-- manager text, user_agent text, request_id text, api_group text, resource text, uid text.
CREATE VIEW deleted AS
 SELECT revision, at, who, what, namespace, name, object, manager, user_agent, request_id, api_group, resource, uid
   FROM history h
  WHERE verb = 'delete'::text AND NOT (EXISTS ( SELECT
           FROM current_objects o
          WHERE o.api_group = h.api_group AND o.resource = h.resource AND o.namespace = h.namespace AND o.name = h.name)) AND NOT (EXISTS ( SELECT
           FROM history n
          WHERE n.api_group = h.api_group AND n.resource = h.resource AND n.namespace = h.namespace AND n.name = h.name AND n.revision > h.revision));

-- Who changed what, when. Hides what current_objects hides.
-- Columns: revision bigint, at timestamp with time zone, who text, verb text, what text, namespace text, name text,
-- manager text, user_agent text, source_address text, request_id text, previous_revision bigint, object json,
-- api_group text, resource text, uid text, encoded bytea, media_type text.
CREATE VIEW history AS
 SELECT revision, committed_at AS at, username AS who, verb,
        CASE
            WHEN api_group = ''::text THEN resource
            ELSE (resource || '.'::text) || api_group
        END AS what,
    namespace, name, field_manager AS manager, user_agent, source_address, request_id, previous_revision,
        CASE
            WHEN api_group = ''::text AND resource = 'secrets'::text AND NOT has_table_privilege('secret_data'::regclass::oid, 'SELECT'::text) THEN without_secret_data(readable_object(object, encoded, media_type))
            WHEN object IS NULL THEN readable_object(object, encoded, media_type)
            ELSE object
        END AS object,
    api_group, resource, uid,
        CASE
            WHEN api_group = ''::text AND resource = 'secrets'::text AND NOT has_table_privilege('secret_data'::regclass::oid, 'SELECT'::text) THEN NULL::bytea
            ELSE encoded
        END AS encoded,
    media_type
   FROM revisions;

-- history, for those who want jsonb.
-- Columns: revision bigint, at timestamp with time zone, who text, verb text, what text, namespace text, name text,
-- manager text, user_agent text, source_address text, request_id text, previous_revision bigint, object jsonb.
CREATE VIEW history_jsonb AS
 SELECT revision, at, who, verb, what, namespace, name, manager, user_agent, source_address, request_id,
    previous_revision, as_jsonb(object) AS object
   FROM history;

-- The labels of all live objects, a row each.
-- Columns: api_group text, resource text, namespace text, name text, key text, value text.
CREATE VIEW labels AS
 SELECT o.api_group, o.resource, o.namespace, o.name, l.key, l.value
   FROM current_objects o
     CROSS JOIN LATERAL json_each_text(
        CASE
            WHEN json_typeof((o.object -> 'metadata'::text) -> 'labels'::text) = 'object'::text THEN (o.object -> 'metadata'::text) -> 'labels'::text
            ELSE NULL::json
        END) l(key, value);

-- The live objects, for those who want jsonb. Hides what current_objects hides.
-- Columns: api_group text, resource text, namespace text, name text, uid text, revision bigint, object jsonb,
-- modified_at timestamp with time zone, expires_at timestamp with time zone.
CREATE VIEW objects_jsonb AS
 SELECT api_group, resource, namespace, name, uid, revision, as_jsonb(object) AS object, modified_at, expires_at
   FROM current_objects;

-- The live objects with their bytes, from the log or the table. For the other views: hides nothing.
-- Columns: api_group text, resource text, namespace text, name text, uid text, revision bigint, object json, encoded
-- bytea, media_type text, modified_at timestamp with time zone, expires_at timestamp with time zone.
CREATE VIEW objects_with_bytes AS
 SELECT api_group, resource, namespace, name, uid, revision,
        CASE
            WHEN object IS NOT NULL THEN object
            WHEN encoded IS NULL THEN ( SELECT
                    CASE
                        WHEN r.object IS NULL AND r.encoded IS NOT NULL THEN readable_object(r.object, r.encoded, r.media_type)
                        ELSE r.object
                    END AS object
               FROM revisions r
              WHERE r.revision = o.revision)
            ELSE readable_object(object, encoded, media_type)
        END AS object,
        CASE
            WHEN object IS NULL AND encoded IS NULL THEN ( SELECT r.encoded
               FROM revisions r
              WHERE r.revision = o.revision)
            ELSE encoded
        END AS encoded,
        CASE
            WHEN object IS NULL AND encoded IS NULL THEN ( SELECT r.media_type
               FROM revisions r
              WHERE r.revision = o.revision)
            ELSE media_type
        END AS media_type,
    modified_at, expires_at
   FROM objects o;

-- The live Secrets with what they hold. Who may read this view is shown it in all the others as well.
-- Columns: namespace text, name text, uid text, revision bigint, object json, encoded bytea, media_type text,
-- modified_at timestamp with time zone.
CREATE VIEW secret_data AS
 SELECT namespace, name, uid, revision, object, encoded, media_type, modified_at
   FROM objects_with_bytes
  WHERE api_group = ''::text AND resource = 'secrets'::text;

-- States that the log no longer has, for object_at and cluster_at. Hides what current_objects hides.
-- Columns: revision bigint, superseded_by bigint, api_group text, resource text, namespace text, name text, uid text,
-- object json.
CREATE VIEW superseded_objects AS
 SELECT revision, superseded_by, api_group, resource, namespace, name, uid,
        CASE
            WHEN api_group = ''::text AND resource = 'secrets'::text AND NOT has_table_privilege('secret_data'::regclass::oid, 'SELECT'::text) THEN without_secret_data(readable_object(object, encoded, media_type))
            WHEN object IS NULL THEN readable_object(object, encoded, media_type)
            ELSE object
        END AS object
   FROM superseded;


-- ==================== Triggers

-- None.


-- ==================== Publication

CREATE PUBLICATION pg_apiserver_revisions FOR TABLE revisions (revision, api_group, resource, namespace, name, uid, verb, previous_revision, object, encoded, media_type, committed_at, write_id, follows_revision)
    WITH (publish = 'insert', publish_via_partition_root);


-- ==================== Rights, beside those of the owner

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA public FROM PUBLIC; -- renew_grants
