-- beside: 33
--
-- Servers that look for live objects in the log are gone, so that partitions of it may go.
DROP VIEW heads;
DROP FUNCTION write_head();
