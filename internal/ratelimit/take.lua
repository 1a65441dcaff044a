-- Decides one request on the counter in KEYS[1], as counter.take in policy.go does, and returns the time, the outcome
-- (0 allowed, 1 limited, 2 banned) and the counter after it: minute, passed, rejected, today.
--
-- ARGV: the limits per minute and per day (0: none), the end of the ban, 1 for a peek, and the time; without a time it
-- is Redis's own. Times are Unix milliseconds. Numbers are doubles, exact up to 2^53, but tostring would round them.

local per_minute, per_day, ban_end = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local peek, now = ARGV[4] == '1', tonumber(ARGV[5])
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

local outcome = 0
if now < ban_end then
  outcome = 2
elseif passed >= per_minute or (per_day > 0 and today >= per_day) then
  outcome = 1
end

if outcome < 2 and not peek then
  if outcome == 0 then
    passed, today = passed + 1, today + 1
  else
    rejected = rejected + 1
  end
  local last = minute + 1
  if per_day > 0 then last = minute - minute % 1440 + 1440 end
  -- It outlives its last window by a minute, for a clock that steps back. No decision needs it gone.
  redis.call('SET', KEYS[1], string.format('%.0f %.0f %.0f %.0f', minute, passed, rejected, today),
    'PX', string.format('%.0f', (last + 1) * 60000 - now))
end
return {now, outcome, minute, passed, rejected, today}
