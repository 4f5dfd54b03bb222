-- beside: 64
--
-- In one transaction, with a table that every commit writes.
ALTER TABLE objects ADD CONSTRAINT objects_mark CHECK (mark <= 2147483647);
CREATE VIEW marks AS SELECT name, mark FROM objects;
