-- beside: 44
--
-- Objects that are stored in YAML (--storage-media-type=application/yaml) are shown as they are. Servers write a line for each field,
-- whose value is in flow style, as JSON is; what is in another style, or in protobuf, is shown by its media type and size as before.
CREATE OR REPLACE FUNCTION readable_object(object json, encoded bytea, media_type text) RETURNS json
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
    IF object IS NOT NULL OR encoded IS NULL THEN
        RETURN object;
    END IF;
    IF media_type = 'application/yaml' THEN
        BEGIN
            RETURN (
                SELECT '{' || string_agg(coalesce(
                    CASE WHEN l.line LIKE '"%' THEN substring(l.line FROM '^("(?:[^"\\]|\\.)*"): ')
                        ELSE to_json(substring(l.line FROM '^([A-Za-z][A-Za-z0-9]*): '))::text END
                    || ':' || substring(l.line FROM '^(?:[A-Za-z][A-Za-z0-9]*|"(?:[^"\\]|\\.)*"): (.*)$'),
                    -- Not JSON, so that no field is left out.
                    '?'
                ), ',' ORDER BY l.at) || '}'
                FROM unnest(string_to_array(rtrim(convert_from(encoded, 'UTF8'), E'\n'), E'\n')) WITH ORDINALITY AS l (line, at)
            )::json;
        EXCEPTION WHEN OTHERS THEN
            -- A hand has written it.
            NULL;
        END;
    END IF;
    RETURN json_build_object('encoded', json_build_object('mediaType', media_type, 'sizeBytes', octet_length(encoded)));
END $$;

COMMENT ON FUNCTION readable_object(json, bytea, text) IS
    'What is shown of an object: itself, where its bytes are JSON or YAML; else, as for protobuf and what is encrypted, what they are and how many.';

-- As before (0055).
DO $$
DECLARE
    here name := (SELECT relnamespace::regnamespace FROM pg_class WHERE oid = 'revisions'::regclass);
BEGIN
    EXECUTE format('ALTER FUNCTION readable_object(json, bytea, text) SET search_path = pg_catalog, %I', here);
END $$;
