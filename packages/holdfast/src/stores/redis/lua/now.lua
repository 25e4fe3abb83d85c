#!lua flags=allow-oom
-- The store's clock in microseconds. What was told is kept: the clock never runs behind it.
--
-- KEYS     root
-- include: clock
save_clock()
return text_of(micros)
