-- beside: 44
--
-- Readers' types never meet Secrets. PostgreSQL looks a type up in pg_temp first unless the search path lists pg_temp, so a reader's
-- domain pg_temp.jsonb with a CHECK was handed the Secret. The functions that views hand Secrets to now look in pg_catalog first and in
-- pg_temp last, nowhere else, and write each type of a literal out, so that no operator of another schema fits better. They print no
-- plan either: with debug_print_plan a plan shows the values that the planner computed.

-- Also called once a row for what is not hidden, where a SET clause would cost as much as the call: each name has its schema instead.
CREATE OR REPLACE FUNCTION as_jsonb(object json) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    RETURN object::pg_catalog.jsonb;
EXCEPTION WHEN untranslatable_character OR invalid_text_representation THEN
    RETURN pg_catalog.regexp_replace(
        object::pg_catalog.text, E'\\\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})', E'\\\\ufffd', 'g'
    )::pg_catalog.jsonb;
END $$;

-- A Secret without what it holds. Never fails: an error of PostgreSQL quotes a piece of the value that it refuses.
CREATE OR REPLACE FUNCTION without_secret_data(object json) RETURNS json
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET standard_conforming_strings = on
SET debug_print_parse = off
SET debug_print_rewritten = off
SET debug_print_plan = off
AS $$
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
END $$;

-- Which data of a Secret changed. Never fails, as without_secret_data: then `data` has changed. The paths are those of path_of.
CREATE OR REPLACE FUNCTION changed_data(before json, after json) RETURNS SETOF text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
ROWS 2
SET search_path = pg_catalog, pg_temp
SET standard_conforming_strings = on
SET debug_print_parse = off
SET debug_print_rewritten = off
SET debug_print_plan = off
AS $$
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
END $$;

-- What is shown of an object in another encoding than JSON: YAML as the servers write it, as JSON; else a summary.
CREATE OR REPLACE FUNCTION readable_object(object json, encoded bytea, media_type text) RETURNS json
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET standard_conforming_strings = on
SET debug_print_parse = off
SET debug_print_rewritten = off
SET debug_print_plan = off
AS $$
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
END $$;
