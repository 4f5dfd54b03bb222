-- beside: 34
--
-- Who migrates, who serves and who reads may be three: the owner of all this, and those who were given what grant_server and
-- grant_reader give. Nothing is left to PUBLIC.

-- Reads a partition by its own name, which nobody but the owner may, and moves where the log begins.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION leave_partition() SECURITY DEFINER SET search_path = %I, pg_temp', current_schema());
END $$;

-- Functions of ours are those of the log's owner, in its schema.
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
-- Functions without rights of their own can do no more than who calls them.
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
            ('SELECT, INSERT, DELETE ON superseded'),
            ('SELECT, INSERT, DELETE ON allocations'),
            ('SELECT, UPDATE ON compaction'),
            ('SELECT, INSERT ON epochs'),
            ('SELECT ON log_bounds'),
            ('SELECT ON schema_migrations'),
            ('SELECT, INSERT, UPDATE, DELETE ON server_leases'),
            ('SELECT, INSERT, UPDATE ON cluster_keys'),
            ('SELECT, INSERT, DELETE ON signing_keys'),
            ('EXECUTE ON FUNCTION make_partition(bigint)'),
            ('EXECUTE ON FUNCTION leave_partition()'),
            ('EXECUTE ON FUNCTION drop_partition(interval)')
        ) g (rights)
        UNION ALL
        SELECT format('EXECUTE ON FUNCTION %s', f.function) FROM functions_of_owner() f WHERE NOT f.is_definer
    LOOP
        EXECUTE format('GRANT %s TO %I', of.rights, to_role);
    END LOOP;
    RETURN format('%s may serve', to_role);
END $$;

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
        'SELECT (revision, committed_at) ON revisions',
        'EXECUTE ON FUNCTION object_at(text, text, text, text, bigint), object_at(text, text, text, text, timestamptz)',
        'EXECUTE ON FUNCTION cluster_at(bigint), cluster_at(timestamptz), revision_at(timestamptz), assert_in_history(bigint)',
        'EXECUTE ON FUNCTION as_jsonb(json), without_secret_data(json)'
    ] LOOP
        EXECUTE format('GRANT %s TO %I', of, to_role);
    END LOOP;
    RETURN format('%s may read, but not what Secrets hold (GRANT SELECT ON secret_data shows that)', to_role);
END $$;

-- After migrations: those who serve and those who read are given what is new. They are known by a right that nothing else gives;
-- who was deprived of it stays so.
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

COMMENT ON FUNCTION grant_server(name) IS 'Lets a role serve. It needs LOGIN and REPLICATION besides.';
COMMENT ON FUNCTION grant_reader(name) IS 'Lets a role read history and objects in the views, without what Secrets hold.';
COMMENT ON FUNCTION renew_grants() IS 'After migrations: those who serve and those who read are given what is new.';

-- What people were granted by hand goes on working: who wrote to the log served, who could read it may go on seeing all of it, and
-- who reads a view needs what it calls.
DO $$
DECLARE
    of record;
BEGIN
    FOR of IN
        SELECT pg_get_userbyid(a.grantee) AS name,
            bool_or(c.relname = 'revisions' AND a.privilege_type = 'INSERT') AS served,
            bool_or(c.relname = 'revisions' AND a.privilege_type = 'SELECT') AS read_the_log
        FROM pg_class c, aclexplode(c.relacl) a
        WHERE c.oid IN (
                'revisions'::regclass, 'history'::regclass, 'history_jsonb'::regclass, 'objects_jsonb'::regclass
            )
          AND a.privilege_type IN ('SELECT', 'INSERT') AND a.grantee NOT IN (0, c.relowner)
        GROUP BY a.grantee
    LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION as_jsonb(json), without_secret_data(json) TO %I', of.name);
        IF of.served THEN
            PERFORM grant_server(of.name);
        END IF;
        IF of.read_the_log THEN
            PERFORM grant_reader(of.name);
            EXECUTE format('GRANT SELECT ON secret_data TO %I', of.name);
        END IF;
    END LOOP;
    PERFORM renew_grants();
END $$;
