-- beside: 44
--
-- Objects over 2 kB lie out of line in `objects`, so that its heap stays narrow: with objects of 5.4 kB each took a page of its own, and a
-- commit reads and changes the page of each object that it replaces. 20,000 of them take 627 pages and not 20,435, replacing them takes
-- two thirds of the CPU and half of the WAL, and filling them half of the WAL. A cold start pays 5 µs of the database's CPU more for each.
-- The log keeps its bytes in the row: it is written once, and read whole.
--
-- What lies there moves with its next write.
ALTER TABLE objects SET (toast_tuple_target = 128);
