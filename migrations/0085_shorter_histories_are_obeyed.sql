-- Servers that know nothing of shorter histories would let a watch begin where rows have left: they have ended before this is applied.
UPDATE compaction SET thins = true;
