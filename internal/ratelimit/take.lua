-- Decides ARGV[6] requests of the same kind on the counter in KEYS[1], as counter.take in policy.go does one after the
-- other, and returns the time and the counter before them: minute, passed, rejected, today.
--
-- ARGV: the limits per minute and per day (0: none), the end of the ban, 1 for a peek, the time, and how many requests;
-- without a time it is Redis's own. Times are Unix milliseconds. Numbers are doubles, exact up to 2^53, but tostring
-- would round them.

local per_minute, per_day, ban_end = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local peek, now, n = ARGV[4] == '1', tonumber(ARGV[5]), tonumber(ARGV[6])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

local minute, passed, rejected, today = 0, 0, 0, 0
local stored = redis.call('GET', KEYS[1])
if stored then
  local m, p, r, t = string.match(stored, '(%d+) (%d+) (%d+) (%d+)')
  minute, passed, rejected, today = tonumber(m), tonumber(p), tonumber(r), tonumber(t)
end
local this_minute = math.floor(now / 60000)
if this_minute > minute then
  local midnight = this_minute - this_minute % 1440
  if minute < midnight then today = 0 end
  minute, passed, rejected = this_minute, 0, 0
end

if now >= ban_end and not peek then
  local left = per_minute - passed
  if per_day > 0 then left = math.min(left, per_day - today) end
  local pass = math.max(0, math.min(n, left))
  local last = minute + 1
  if per_day > 0 then last = minute - minute % 1440 + 1440 end
  -- It outlives its last window by a minute, for a clock that steps back. No decision needs it gone.
  redis.call('SET', KEYS[1], string.format('%.0f %.0f %.0f %.0f', minute, passed + pass, rejected + n - pass, today + pass),
    'PX', string.format('%.0f', (last + 1) * 60000 - now))
end
return {now, minute, passed, rejected, today}
