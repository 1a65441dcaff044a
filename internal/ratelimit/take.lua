-- Decides several requests of one kind, one after the other, as counter.take in policy.go does.
--
-- KEYS[1] is the counter. ARGV holds:
--   1, 2    the limits per minute and per day; a daily limit of 0 means none
--   3, 4    the start and the end of the ban
--   5       1 for a peek
--   6       the time, or "" for the time of Redis
--   7       how many requests
--   8 - 11  the counter that the caller knows: minute, passed, rejected, today
-- It returns the time, and the counter as it was before these requests. Times are Unix milliseconds. All numbers are
-- doubles, which are exact up to 2^53; string.format keeps them so, and tostring does not.

local per_minute, per_day = tonumber(ARGV[1]), tonumber(ARGV[2])
local ban_start, ban_end = tonumber(ARGV[3]), tonumber(ARGV[4])
local peek, now, n = ARGV[5] == '1', tonumber(ARGV[6]), tonumber(ARGV[7])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

local function counter(minute, passed, rejected, today)
  return {minute = tonumber(minute), passed = tonumber(passed), rejected = tonumber(rejected), today = tonumber(today)}
end

-- As counter.at in policy.go.
local function at(c, minute)
  if c.minute == minute or c.minute == minute + 1 then return c end
  local midnight = minute - minute % 1440
  return counter(minute, 0, 0, c.minute >= midnight and c.today or 0)
end

-- As counter.merge in policy.go.
local this_minute = math.floor(now / 60000)
local known = at(counter(ARGV[8], ARGV[9], ARGV[10], ARGV[11]), this_minute)
local stored = redis.call('GET', KEYS[1]) or '0 0 0 0'
local c = at(counter(string.match(stored, '(%d+) (%d+) (%d+) (%d+)')), this_minute)
local minute = math.max(c.minute, known.minute)
c, known = at(c, minute), at(known, minute)
local passed, rejected = math.max(c.passed, known.passed), math.max(c.rejected, known.rejected)
local today = math.max(c.today, known.today)

local banned = ban_start <= now and now < ban_end
if not banned and not peek then
  local left = per_minute - passed
  if per_day > 0 then left = math.min(left, per_day - today) end
  local pass = math.max(0, math.min(n, left))
  local last = minute + 1
  if per_day > 0 then last = minute - minute % 1440 + 1440 end
  -- The counter outlives its last window by a minute, in case the clock steps back.
  redis.call('SET', KEYS[1], string.format('%.0f %.0f %.0f %.0f', minute, passed + pass, rejected + n - pass, today + pass),
    'PX', string.format('%.0f', (last + 1) * 60000 - now))
end
return {now, minute, passed, rejected, today}
