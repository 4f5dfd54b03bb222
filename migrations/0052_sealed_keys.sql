-- beside: 44
--
-- Servers store the keys of tokens anew when the key that these are encrypted by has changed.

-- grant_server as it is, with the right to that.
DO $$
DECLARE
    before text := pg_get_functiondef('grant_server(name)'::regprocedure);
    last   text := '(''SELECT, INSERT, DELETE ON signing_keys'')';
BEGIN
    IF position(last IN before) = 0 THEN
        RAISE EXCEPTION 'grant_server does not say which rights to signing_keys a server has';
    END IF;
    EXECUTE replace(before, last, '(''SELECT, INSERT, UPDATE (private_key), DELETE ON signing_keys'')');
END $$;

COMMENT ON COLUMN cluster_keys.private_key IS 'PEM, PKCS #8; where Secrets are encrypted, that, encrypted as they are.';
COMMENT ON COLUMN signing_keys.private_key IS 'PEM, PKCS #8; where Secrets are encrypted, that, encrypted as they are.';
