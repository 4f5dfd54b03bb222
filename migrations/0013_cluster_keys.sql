-- Keys that all servers of a cluster share: the authority that signs their certificates, and the key that signs service account
-- tokens. A server that starts anywhere with this database is the same cluster to its clients. Whoever may read this table can be
-- anybody in the cluster, as with the rows of secrets: grant it to nobody.
CREATE TABLE cluster_keys (
    name        text        COLLATE "C" PRIMARY KEY,
    -- PEM; empty for a key without one.
    certificate text        NOT NULL,
    -- PEM, PKCS #8.
    private_key text        NOT NULL,
    made_at     timestamptz NOT NULL DEFAULT now()
);

REVOKE ALL ON cluster_keys FROM PUBLIC;
