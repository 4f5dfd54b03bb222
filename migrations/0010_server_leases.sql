-- Which servers live: each says so every few seconds, and is taken for dead when it has not for a while. The database's clock
-- alone decides, so servers whose clocks differ agree.
CREATE TABLE server_leases (
    address    text        COLLATE "C" NOT NULL,
    port       integer     NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (address, port)
) WITH (fillfactor = 50);
