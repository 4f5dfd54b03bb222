-- What the servers of a cluster share beside the log: their addresses, their work and their keys.

-- Which servers live: each renews its row every few seconds, and is taken for dead when it has not for a while. The database's clock alone
-- decides, so servers whose clocks differ agree.
CREATE TABLE server_leases (
    address    text        COLLATE "C" NOT NULL,
    port       integer     NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (address, port)
) WITH (fillfactor = 50);

-- The servers of a cluster that may not all serve the same versions (UnknownVersionInteroperabilityProxy): where each is reached by the
-- others, and which resources it has built in. Each renews its row every few seconds. For an hour after it has expired, a row still
-- says what its server knew: clients are asked to come back, rather than answered that there is no such resource.
CREATE TABLE peers (
    server     text        COLLATE "C" PRIMARY KEY,
    address    text        NOT NULL,
    port       integer     NOT NULL,
    resources  text[]      NOT NULL,
    expires_at timestamptz NOT NULL
);

COMMENT ON TABLE peers IS 'Servers that hand requests to each other. resources: what each has built in, as group/version/resource.';

-- Work that one server of the cluster does at a time, and which server that is. A holder counts `renewals` up every few seconds; another
-- server takes the work over when it has seen the same count for long enough by its own clock. So no clock of the database decides,
-- and a promotion to a machine whose clock is ahead takes no work away. `renewed_at` is for people.
CREATE TABLE work_leases (
    work       text        COLLATE "C" PRIMARY KEY,
    holder     text        NOT NULL,
    renewals   bigint      NOT NULL,
    renewed_at timestamptz NOT NULL
) WITH (fillfactor = 50);

COMMENT ON TABLE work_leases IS 'Work that one server does at a time. An empty holder: nobody, and whoever comes first takes it.';

-- Keys that all servers of a cluster share: the authority that signs their certificates. A server that starts anywhere with this
-- database is the same cluster to its clients. A role that may read this table can act as any user of the cluster, as with the rows of
-- secrets: grant it to none but servers.
CREATE TABLE cluster_keys (
    name        text        COLLATE "C" PRIMARY KEY,
    -- PEM; empty for a key without one.
    certificate text        NOT NULL,
    private_key text        NOT NULL,
    made_at     timestamptz NOT NULL DEFAULT now()
);

REVOKE ALL ON cluster_keys FROM PUBLIC;

COMMENT ON COLUMN cluster_keys.private_key IS 'PEM, PKCS #8; where Secrets are encrypted, that, encrypted as they are.';

-- The keys of service account tokens. All of them verify, so that tokens outlive a change of keys; the youngest whose time has come signs.
-- Every server of the database follows this table while it runs. A key that is deleted ends the tokens it signed. As with cluster_keys,
-- grant it to none but servers.
CREATE TABLE signing_keys (
    id          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    private_key text        NOT NULL,
    made_at     timestamptz NOT NULL DEFAULT now(),
    -- Servers must be able to verify with a key before any of them signs with it.
    signs_from  timestamptz NOT NULL DEFAULT now()
);

REVOKE ALL ON signing_keys FROM PUBLIC;

COMMENT ON COLUMN signing_keys.private_key IS 'PEM, PKCS #8; where Secrets are encrypted, that, encrypted as they are.';
