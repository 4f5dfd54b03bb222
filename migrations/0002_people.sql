-- What people read: current state, history, and the cluster at any moment inside the history window.

CREATE VIEW objects AS
SELECT r.api_group, r.resource, r.namespace, r.name, r.uid, r.revision, r.object, r.committed_at AS modified_at, h.expires_at
FROM heads h
JOIN revisions r ON r.revision = h.revision;

-- jsonb holds neither NUL nor half a surrogate pair, which json may; in the few objects that have one, it is replaced.
CREATE FUNCTION as_jsonb(object json) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    RETURN object::jsonb;
EXCEPTION WHEN untranslatable_character OR invalid_text_representation THEN
    RETURN regexp_replace(object::text, '\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\\ufffd', 'g')::jsonb;
END $$;

CREATE VIEW objects_jsonb AS
SELECT api_group, resource, namespace, name, uid, revision, as_jsonb(object) AS object, modified_at, expires_at
FROM objects;

CREATE VIEW history AS
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

CREATE VIEW history_jsonb AS
SELECT
    revision, at, who, verb, what, namespace, name, manager, user_agent, source_address, request_id, previous_revision,
    as_jsonb(object) AS object
FROM history;

-- The newest revision committed at or before a moment; null when the moment is older than the history that is kept.
--
-- Time rises with the revision, so the log is halved until the place is found: some thirty look-ups in the primary key
-- instead of an index on time that every write would pay for.
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

-- Refuses questions about a past that compaction has removed.
CREATE FUNCTION assert_in_history(at bigint) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
    oldest bigint;
BEGIN
    SELECT revision INTO STRICT oldest FROM compaction;
    IF at IS NULL OR at < oldest THEN
        RAISE EXCEPTION 'revision % is older than the history that is kept', coalesce(at::text, '(none)')
            USING HINT = format('Ask for revision %s or later, or run the servers with a longer --history-window.', oldest);
    END IF;
    RETURN at;
END $$;

CREATE FUNCTION cluster_at(at bigint)
RETURNS TABLE (api_group text, resource text, namespace text, name text, uid text, revision bigint, object json)
LANGUAGE sql STABLE AS $$
    SELECT s.api_group, s.resource, s.namespace, s.name, s.uid, s.revision, s.object
    FROM (
        SELECT DISTINCT ON (r.api_group, r.resource, r.namespace, r.name) r.*
        FROM revisions r
        WHERE r.revision <= assert_in_history(at)
        ORDER BY r.api_group, r.resource, r.namespace, r.name, r.revision DESC
    ) s
    WHERE s.verb <> 'delete'
$$;

CREATE FUNCTION cluster_at(moment timestamptz)
RETURNS TABLE (api_group text, resource text, namespace text, name text, uid text, revision bigint, object json)
LANGUAGE sql STABLE AS $$
    SELECT * FROM cluster_at(revision_at(moment))
$$;

CREATE FUNCTION object_at(of_group text, of_resource text, of_namespace text, of_name text, at bigint) RETURNS json
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN s.verb = 'delete' THEN NULL ELSE s.object END
    FROM (
        SELECT r.verb, r.object
        FROM revisions r
        WHERE r.api_group = of_group AND r.resource = of_resource AND r.namespace = of_namespace AND r.name = of_name
          AND r.revision <= assert_in_history(at)
        ORDER BY r.revision DESC
        LIMIT 1
    ) s
$$;

CREATE FUNCTION object_at(of_group text, of_resource text, of_namespace text, of_name text, moment timestamptz) RETURNS json
LANGUAGE sql STABLE AS $$
    SELECT object_at(of_group, of_resource, of_namespace, of_name, revision_at(moment))
$$;

COMMENT ON TABLE revisions IS 'The log: one row for every write. The id is the resourceVersion.';
COMMENT ON COLUMN revisions.api_group IS 'API group, empty for the core group.';
COMMENT ON COLUMN revisions.namespace IS 'Empty for objects that are not namespaced.';
COMMENT ON COLUMN revisions.previous_revision IS 'The revision this one replaced; null for a create.';
COMMENT ON COLUMN revisions.object IS 'The object after the write, or before it for a delete. Without metadata.resourceVersion, which is the revision.';
COMMENT ON COLUMN revisions.encoded IS 'The object in the media type beside it, where it is not stored as JSON.';
COMMENT ON COLUMN revisions.write_id IS 'Drawn by the server for each write, to find out what became of a commit whose answer was lost.';
COMMENT ON COLUMN revisions.request_id IS 'The audit id of the request.';
COMMENT ON TABLE heads IS 'For each live object, which row of the log is its current state. Read the view objects instead.';
COMMENT ON TABLE compaction IS 'Superseded states at or below this revision are gone.';
COMMENT ON COLUMN compaction.committed_at IS 'When that revision was committed: moments before it are no longer known.';
COMMENT ON VIEW objects IS 'The live objects.';
COMMENT ON VIEW objects_jsonb IS 'The live objects, for operators and indexes that want jsonb.';
COMMENT ON VIEW history IS 'Who changed what, when.';
