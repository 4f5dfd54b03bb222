-- The roles that migrate, serve and read may be three: the owner of all this, and those that were given what grant_server and grant_reader
-- give. Nothing is left to PUBLIC.

-- The functions of the log's owner, in its schema.
CREATE FUNCTION functions_of_owner() RETURNS TABLE (function regprocedure, is_definer boolean)
LANGUAGE sql STABLE AS $$
    SELECT p.oid::regprocedure, p.prosecdef
    FROM pg_proc p
    JOIN pg_class log ON log.oid = 'revisions'::regclass
    WHERE p.pronamespace = log.relnamespace AND p.proowner = log.relowner AND p.prokind = 'f'
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
$$;

-- What serving takes, and no more: rows, never tables. A role that serves can also log in and replicate, which are no grants.
--
-- Functions without rights of their own can do no more than their caller.
CREATE FUNCTION grant_server(to_role name) RETURNS text
LANGUAGE plpgsql AS $$
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
            ('SELECT, INSERT ON epochs'),
            ('SELECT ON log_bounds'),
            ('SELECT ON schema_migrations'),
            ('SELECT, INSERT, UPDATE, DELETE ON server_leases'),
            ('SELECT, INSERT, UPDATE, DELETE ON peers'),
            ('SELECT, INSERT, UPDATE ON work_leases'),
            ('SELECT, INSERT, UPDATE ON cluster_keys'),
            ('SELECT, INSERT, UPDATE (private_key), DELETE ON signing_keys'),
            ('EXECUTE ON FUNCTION make_partition(bigint)'),
            ('EXECUTE ON FUNCTION leave_partition()'),
            ('EXECUTE ON FUNCTION drop_partition(interval)'),
            ('EXECUTE ON FUNCTION put_custom_resource_view(text, text, json, text)'),
            ('EXECUTE ON FUNCTION drop_custom_resource_view(text, text)'),
            ('EXECUTE ON FUNCTION index_requests()')
        ) g (rights)
        UNION ALL
        SELECT format('EXECUTE ON FUNCTION %s', f.function) FROM functions_of_owner() f WHERE NOT f.is_definer
    LOOP
        EXECUTE format('GRANT %s TO %I', of.rights, to_role);
    END LOOP;
    RETURN format('%s may serve', to_role);
END $$;

COMMENT ON FUNCTION grant_server(name) IS 'Lets a role serve. It needs LOGIN and REPLICATION besides.';

-- The views, and what object_at, cluster_at and revision_at take. Of the log itself that is which revision was when.
CREATE FUNCTION grant_reader(to_role name) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    here name := (SELECT relnamespace::regnamespace FROM pg_class WHERE oid = 'revisions'::regclass);
    of   text;
BEGIN
    IF NOT has_schema_privilege(to_role, here, 'USAGE') THEN
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', here, to_role);
    END IF;
    FOREACH of IN ARRAY ARRAY[
        'SELECT ON history, history_jsonb, current_objects, objects_jsonb, superseded_objects',
        'SELECT ON compaction, epochs, log_bounds',
        'EXECUTE ON FUNCTION revision_of(text), object_at(text, text, text, text, text), cluster_at(text)',
        'EXECUTE ON FUNCTION cluster_at(text, text, text, text), cluster_diff(text, text)',
        'SELECT ON changes, deleted, labels, conditions',
        'EXECUTE ON FUNCTION path_of(text, text), keys_of(jsonb, jsonb), parts_of(text, jsonb, text[]), has_parts(jsonb)',
        'EXECUTE ON FUNCTION changed_data(json, json), changes_between(jsonb, jsonb), leaves_of(jsonb), quantity(text), images_at(timestamptz)',
        'EXECUTE ON FUNCTION changes_of(text, text, text, text), blame_of(text, text, text, text), timeline(text, timestamptz)',
        'EXECUTE ON FUNCTION cluster_diff(bigint, bigint), cluster_diff(timestamptz, timestamptz)',
        'EXECUTE ON FUNCTION changes_of(text, text, text, text, timestamptz, timestamptz, bigint)',
        'EXECUTE ON FUNCTION timeline(text, timestamptz, timestamptz, bigint), images_at(timestamptz, text)',
        'EXECUTE ON FUNCTION cluster_diff(timestamptz, timestamptz, text)',
        'SELECT (revision, committed_at) ON revisions',
        'EXECUTE ON FUNCTION object_at(text, text, text, text, bigint), object_at(text, text, text, text, timestamptz)',
        'EXECUTE ON FUNCTION cluster_at(bigint), cluster_at(timestamptz), revision_at(timestamptz), assert_in_history(bigint)',
        'EXECUTE ON FUNCTION as_jsonb(json), without_secret_data(json), readable_object(json, bytea, text)',
        'EXECUTE ON FUNCTION cluster_at(bigint, text, text, text), cluster_at(timestamptz, text, text, text), resources_in_history()'
    ] LOOP
        EXECUTE format('GRANT %s TO %I', of, to_role);
    END LOOP;
    RETURN format('%s may read, but not what Secrets hold (GRANT SELECT ON secret_data shows that)', to_role);
END $$;

COMMENT ON FUNCTION grant_reader(name) IS 'Lets a role read history and objects in the views, without what Secrets hold.';

-- After migrations: roles that serve and roles that read are given what is new. They are known by a right that nothing else gives; a role
-- that was deprived of it stays so.
CREATE FUNCTION renew_grants() RETURNS void
LANGUAGE plpgsql AS $$
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
END $$;

COMMENT ON FUNCTION renew_grants() IS 'After migrations: those who serve and those who read are given what is new.';
