-- The keys of service account tokens. All of them verify, so that tokens outlive a change of keys; the youngest whose time has come
-- signs. Every server of the database follows this table while it runs. A key that is deleted ends the tokens it signed. As with
-- cluster_keys, whoever may read this can be anybody in the cluster: grant it to nobody.
CREATE TABLE signing_keys (
    id          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- PEM, PKCS #8.
    private_key text        NOT NULL,
    made_at     timestamptz NOT NULL DEFAULT now(),
    -- Servers must be able to verify with a key before any of them signs with it.
    signs_from  timestamptz NOT NULL DEFAULT now()
);

REVOKE ALL ON signing_keys FROM PUBLIC;

-- What there was of them so far was one. It moves, because a key that is kept twice is not gone when it is deleted.
INSERT INTO signing_keys (private_key, made_at, signs_from)
SELECT private_key, made_at, made_at FROM cluster_keys WHERE name = 'service-account';

DELETE FROM cluster_keys WHERE name = 'service-account';
