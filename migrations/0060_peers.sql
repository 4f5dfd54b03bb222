-- beside: 34
--
-- The servers of a cluster that may not all serve the same versions (UnknownVersionInteroperabilityProxy): where each is reached by
-- the others, and which resources it has built in. A server says so again every few seconds. A row that has expired tells for an hour
-- that the server knew what it knew, so that clients are asked to come back rather than told that there is no such resource.
CREATE TABLE peers (
    server     text        COLLATE "C" PRIMARY KEY,
    address    text        NOT NULL,
    port       integer     NOT NULL,
    resources  text[]      NOT NULL,
    expires_at timestamptz NOT NULL
);

COMMENT ON TABLE peers IS 'Servers that hand requests to each other. resources: what each has built in, as group/version/resource.';

-- grant_server as it is, with the rights to this table.
DO $$
DECLARE
    before text := pg_get_functiondef('grant_server(name)'::regprocedure);
    last   text := '(''SELECT, INSERT, UPDATE, DELETE ON server_leases'')';
    more   text := last || $more$,
            ('SELECT, INSERT, UPDATE, DELETE ON peers')$more$;
BEGIN
    IF position(last IN before) = 0 THEN
        RAISE EXCEPTION 'grant_server does not say where rights to leases belong';
    END IF;
    EXECUTE replace(before, last, more);
END $$;
