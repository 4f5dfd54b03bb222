-- beside: 34
--
-- Work that one server of the cluster does at a time, and which server that is. A holder counts `renewals` up every few seconds;
-- another server takes the work over when it has seen the same count for long enough by its own clock. So no clock of the
-- database decides, and a promotion to a machine whose clock is ahead takes no work away. `renewed_at` is for people.
CREATE TABLE work_leases (
    work       text        COLLATE "C" PRIMARY KEY,
    holder     text        NOT NULL,
    renewals   bigint      NOT NULL,
    renewed_at timestamptz NOT NULL
) WITH (fillfactor = 50);

COMMENT ON TABLE work_leases IS 'Work that one server does at a time. An empty holder: nobody, and whoever comes first takes it.';

-- grant_server as it is, with the rights to this table.
DO $$
DECLARE
    before text := pg_get_functiondef('grant_server(name)'::regprocedure);
    last   text := '(''SELECT, INSERT, UPDATE, DELETE ON server_leases'')';
    more   text := last || $more$,
            ('SELECT, INSERT, UPDATE ON work_leases')$more$;
BEGIN
    IF position(last IN before) = 0 THEN
        RAISE EXCEPTION 'grant_server does not say where rights to leases belong';
    END IF;
    EXECUTE replace(before, last, more);
END $$;
