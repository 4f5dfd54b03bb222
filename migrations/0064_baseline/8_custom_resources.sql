-- A view for the objects of each custom resource (--custom-resource-views): crd."widgets.example.com", and crd.widgets as long as no other
-- has that name. Servers create nothing by themselves: two functions do it for them, with the rights of the owner. Of what they are
-- given, names and values get into a statement, and nothing gets there unquoted.

-- What the views need. The schema comes with the first view: not every role that migrates may create one.
--
-- Nothing in it fails on a value: one object must not hide the others.
CREATE FUNCTION make_schema_of_views() RETURNS void
LANGUAGE plpgsql AS $make$
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
END $make$;

-- How the comment on a view of ours begins: anything else in the schema is not ours.
CREATE FUNCTION mark_of_view(of_group text, of_resource text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$ SELECT format('Objects of %s.%s (', of_resource, of_group) $$;

-- PostgreSQL cuts longer names off, and two might be the same then.
CREATE FUNCTION view_name(name text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN octet_length(name) <= 63 THEN name ELSE left(name, 54) || '_' || left(md5(name), 8) END
$$;

CREATE FUNCTION path_of_view(keys json) RETURNS text[]
LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(array_agg(k.key ORDER BY k.place), '{}') FROM json_array_elements_text(keys) WITH ORDINALITY k (key, place)
$$;

-- The expression of a column: {"path": ["spec", "replicas"], "type": "integer"}, or what is in the first item of a list of which something
-- is true: {"path": ["status"], "type": "string", "item": {"path": ["status", "conditions"], "key": "type", "value": "Ready"}}.
CREATE FUNCTION column_of_view(item json) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
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
$$;

-- `columns`: [{"name": "replicas", "path": ["spec", "replicas"], "type": "integer"}]. `digest`: one that a view has already makes nothing
-- anew. A view that others depend on stays as it is.
CREATE FUNCTION put_custom_resource_view(of_group text, of_resource text, columns json, digest text) RETURNS text
LANGUAGE plpgsql AS $$
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
END $$;

CREATE FUNCTION drop_custom_resource_view(of_group text, of_resource text) RETURNS text
LANGUAGE plpgsql AS $$
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
END $$;

COMMENT ON FUNCTION put_custom_resource_view(text, text, json, text) IS 'For servers: makes the views of a custom resource.';
COMMENT ON FUNCTION drop_custom_resource_view(text, text) IS 'For servers: drops the views of a custom resource.';

-- Readers of a view do not wait for a change of it, and a change that would wait for readers is tried again later.
DO $$
DECLARE
    of text;
BEGIN
    FOREACH of IN ARRAY ARRAY['put_custom_resource_view(text, text, json, text)', 'drop_custom_resource_view(text, text)'] LOOP
        EXECUTE format(
            'ALTER FUNCTION %s SECURITY DEFINER SET search_path = %I, pg_temp SET lock_timeout = %L',
            of, current_schema(), '2s'
        );
    END LOOP;
END $$;
