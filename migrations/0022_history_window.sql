-- How far back history is kept is one value for all servers: one that is started with another idea of it, or with none, must
-- not delete what others keep. Null: nobody has said so yet, and nothing is deleted.
ALTER TABLE compaction ADD COLUMN history_window interval CHECK (history_window >= '0');
COMMENT ON COLUMN compaction.history_window IS 'How far back history is kept. Servers set it from --history-window where that is given.';

-- A log that is there already goes on reaching as far back as it does, when that is more than any default.
UPDATE compaction c
SET history_window = date_trunc('hour', log.span) + interval '1 hour'
FROM (
    SELECT newest.committed_at - greatest(oldest.committed_at, cut.committed_at) AS span
    FROM (SELECT committed_at FROM revisions ORDER BY revision DESC LIMIT 1) newest,
        (SELECT committed_at FROM revisions ORDER BY revision LIMIT 1) oldest,
        (SELECT CASE WHEN revision > 0 THEN committed_at END AS committed_at FROM compaction) cut
) log
WHERE log.span > interval '15 minutes';

-- Rows that a clock which ran ahead has dated in the future pin the time of all that follow, and end compaction: they are given
-- the present. Both clocks, ours and the caller's, must say that they are of the future. Answers how many were corrected, at
-- most `at_most`, and how far ahead the newest one was.
--
-- The oldest of them go first, so that time never runs backwards from one row to the next, whenever this ends.
CREATE FUNCTION correct_clock(callers_clock timestamptz, at_most integer, OUT corrected bigint, OUT log_ahead float8, OUT clock_ahead float8)
LANGUAGE plpgsql
SET lock_timeout = '10s'
AS $$
DECLARE
    present  timestamptz := greatest(clock_timestamp(), callers_clock);
    newest   timestamptz;
    too_late bigint;
BEGIN
    corrected := 0;
    clock_ahead := extract(epoch FROM clock_timestamp() - callers_clock);
    SELECT r.committed_at INTO newest FROM revisions r ORDER BY r.revision DESC LIMIT 1;
    log_ahead := extract(epoch FROM newest - present);
    IF newest IS NULL OR newest <= present + interval '5 minutes' THEN
        RETURN;
    END IF;
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    UPDATE compaction SET committed_at = present WHERE committed_at > present;
    too_late := revision_at(present);
    UPDATE revisions SET committed_at = present
    WHERE revision IN (SELECT r.revision FROM revisions r WHERE r.revision > too_late ORDER BY r.revision LIMIT at_most);
    GET DIAGNOSTICS corrected = ROW_COUNT;
END $$;
