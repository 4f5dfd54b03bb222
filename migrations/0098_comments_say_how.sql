-- beside: 44
--
-- The catalog says how commits work, and its comments name what acts.

COMMENT ON FUNCTION commit_revisions(
    json[], text[], text[], text[], text[], text[], text[], bigint[], uuid[], timestamptz[], text[], text[], text[], text[], text[],
    bigint, uuid, timestamptz, bytea[], text[]
) IS 'Appends a batch of writes to the log and applies them to the objects, in one transaction.

Element i of each array is write i. expected[i] is the revision that the live object must have, 0 for none.
accepted[i] is the new revision; where it is null, the write was refused, alone, and live[i] is the revision of
the live object, null for none, or -1 when the resource belongs to another database. A batch has at most one
write of an object. objects[i] is JSON, or encodings[i] has the bytes and media_types[i] their form.

In this order:

1. It locks commit_order. The order of ids is then the order of commits, over all servers, and readers need not
   wait for gaps. Two designs failed before: inserts without a lock, where a higher id may become visible before
   a lower one; and an advisory lock, which every user of the database may take and keep. The lock ends with the
   call, so that a client that vanishes does not hold it. The next statement has a new snapshot, which sees
   every earlier batch: therefore the isolation level must be read committed.
2. It compares the log with what the caller knows of it: seen, and seen_write, the id of its write. Where they
   differ, commits were lost, and keep_epoch begins an epoch before the batch is examined. The batch may go on:
   an expected revision of the old epoch is one of the new only where the object is the same.
3. It sets the time of the batch, never before that of an earlier one, and at most a minute after callers_clock:
   a clock that jumps a year ahead would stop the time of the log for a year.
4. It finds each live object once, through an index, and keeps its place (ctid) for what follows: only holders
   of the lock write objects. The settings of the function hold the plan to the index, also on a young table.
5. It appends the accepted writes to revisions, and keeps replaced states that the log is about to lose
   (superseded).
6. It inserts, updates or deletes the live objects, without their bytes. fill_objects copies the bytes later,
   outside of the lock, once an object rests: an object that is written often is stored once.
7. It notifies servers that poll, if there are any.

A batch in JSON was rejected: it was parsed twice and copied through a sort, at twice the CPU for 200 pods. So
was a call for each write: each takes the lock, a round trip and an fsync.';

COMMENT ON TABLE commit_order IS 'All that append to the log lock it: the order of ids is the order of commits. Always empty.';
COMMENT ON TABLE work_leases IS
    'Work that one server does at a time. While the holder is empty, the first server that asks takes it.';
COMMENT ON VIEW objects_with_bytes IS 'The live objects with their bytes, from the log or the table. For the other views: hides nothing.';
COMMENT ON FUNCTION has_parts(jsonb) IS 'Whether changes inside of a value are listed, rather than that of the whole.';
