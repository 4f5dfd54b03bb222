-- commit_revisions for batches given as one array for each column, element i of all of them being write i. Half the CPU of the
-- function that takes json: what arrives in binary is not parsed, objects are handed on from the array to the log without
-- being copied through a sort and two materialized queries, and a head that was looked up is written by its place.
--
-- `expected` is the revision the live object must be at, 0 when there must be none. Write i's new revision is accepted[i]; where
-- that is null it was refused, alone, and live[i] is the revision that is in the way, null when there is no live object. At
-- most one write for each key.
--
-- The function that takes json stays, for what writes from SQL and for servers of the version before.
CREATE FUNCTION commit_revisions(
    objects          json[],
    verbs            text[],
    api_groups       text[],
    resources        text[],
    namespaces       text[],
    names            text[],
    uids             text[],
    expected         bigint[],
    write_ids        uuid[],
    expiries         timestamptz[],
    usernames        text[],
    user_agents      text[],
    source_addresses text[],
    request_ids      text[],
    field_managers   text[],
    OUT accepted     bigint[],
    OUT live         bigint[]
)
LANGUAGE plpgsql
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
-- Plans made for the arrays of one call would be made anew for each.
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    moment timestamptz;
    -- Where each head lies. It stays there until the end: all who write heads hold the lock, and what rewrites the whole table
    -- waits for our transaction.
    places tid[];
BEGIN
    -- In a statement of its own: the next one then has a snapshot that sees every earlier batch.
    PERFORM pg_advisory_xact_lock(hashtext('pg-apiserver'), hashtext('commit_revisions'));
    -- Clocks are set back and failovers change clocks; time in the log never runs backwards.
    SELECT greatest(clock_timestamp(), max(r.committed_at)) INTO moment
    FROM (SELECT committed_at FROM revisions ORDER BY revision DESC LIMIT 1) r;

    SELECT array_agg(checked.id), array_agg(checked.revision), array_agg(checked.place)
    INTO accepted, live, places
    FROM (
        SELECT
            CASE WHEN coalesce(h.revision, 0) = expected[w.i] THEN nextval('revisions_revision_seq') END AS id,
            h.revision,
            h.ctid AS place
        FROM unnest(names) WITH ORDINALITY AS w (name, i)
        LEFT JOIN heads h ON h.api_group = api_groups[w.i] AND h.resource = resources[w.i]
            AND h.namespace = namespaces[w.i] AND h.name = w.name
        ORDER BY w.i
    ) checked;

    INSERT INTO revisions (
        revision, api_group, resource, namespace, name, uid, verb, previous_revision, object,
        committed_at, write_id, expires_at, username, user_agent, source_address, request_id, field_manager
    )
    SELECT
        accepted[i], api_groups[i], resources[i], namespaces[i], names[i], uids[i], verbs[i], live[i], objects[i],
        moment, write_ids[i], expiries[i], usernames[i], user_agents[i], source_addresses[i], request_ids[i],
        field_managers[i]
    FROM generate_series(1, cardinality(names)) AS i
    WHERE accepted[i] IS NOT NULL;

    IF 0 = ANY (expected) THEN
        INSERT INTO heads (api_group, resource, namespace, name, revision, uid, expires_at)
        SELECT api_groups[i], resources[i], namespaces[i], names[i], accepted[i], uids[i], expiries[i]
        FROM generate_series(1, cardinality(names)) AS i
        WHERE accepted[i] IS NOT NULL AND places[i] IS NULL AND verbs[i] <> 'delete';
    END IF;
    IF 0 < ANY (expected) THEN
        UPDATE heads h
        SET revision = accepted[i], uid = uids[i], expires_at = expiries[i]
        FROM generate_series(1, cardinality(names)) AS i
        WHERE h.ctid = places[i] AND accepted[i] IS NOT NULL AND verbs[i] <> 'delete';
    END IF;
    IF 'delete' = ANY (verbs) THEN
        DELETE FROM heads h
        USING generate_series(1, cardinality(names)) AS i
        WHERE h.ctid = places[i] AND accepted[i] IS NOT NULL AND verbs[i] = 'delete';
    END IF;
END $$;

-- commit_revisions for batches in which writes claim or release values. holds[i] is null, which changes nothing, or an array of
-- {pool, value, kept}: all values the object holds once it is written. What it held besides is released. A value that is not
-- `kept` from before must be free: a write that claims one which another object holds is refused alone, and `taken` has it as
-- {ordinal, pool, value}. No two writes of one batch may claim the same value.
CREATE FUNCTION commit_holding_revisions(
    objects          json[],
    verbs            text[],
    api_groups       text[],
    resources        text[],
    namespaces       text[],
    names            text[],
    uids             text[],
    expected         bigint[],
    write_ids        uuid[],
    expiries         timestamptz[],
    usernames        text[],
    user_agents      text[],
    source_addresses text[],
    request_ids      text[],
    field_managers   text[],
    holds            json,
    OUT accepted     bigint[],
    OUT live         bigint[],
    OUT taken        jsonb
)
LANGUAGE plpgsql
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    contested record;
BEGIN
    -- The lock of commit_revisions, taken before anything is looked at.
    PERFORM pg_advisory_xact_lock(hashtext('pg-apiserver'), hashtext('commit_revisions'));
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
        usernames, user_agents, source_addresses, request_ids, field_managers
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
END $$;
