-- Decides about several equal requests, one after the other, like counter.take in policy.go, or gives them back, like
-- counter.giveBack.
--
-- KEYS[1] is the counter. ARGV holds:
--   1, 2    the limits per minute and per day; a daily limit of 0 means none
--   3, 4    the start and the end of the ban
--   5       how many requests; 0 for a peek; a negative number gives requests back
--   6       the time, or "" for the time of Redis
--   7 - 11  the counter that the caller knows: minute, passed, rejected, today, returned
--   12      only if the ban is new: for how many milliseconds to share it with callers that do not know it
--   13      only if requests are given back: the minute in which they were counted
-- It returns the time, the counter before these requests, and the end of a ban that another caller has shared, or 0. Times
-- are Unix milliseconds. All numbers are doubles, which are exact up to 2^53; string.format writes them exactly, tostring
-- does not. A counter is five values instead of a table, which saves 7 % of the time. What is stored ends after the first
-- four unless requests were given back or a ban is shared. Then three more numbers follow: the requests that were given
-- back, until when the ban is shared, and its end.

local now = tonumber(ARGV[6])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Like counter.asOf in policy.go. Adding 0 turns a string into a number.
local function as_of(clock, minute, passed, rejected, today, returned)
  minute = minute + 0
  if minute == clock or minute == clock + 1 then return minute, passed + 0, rejected + 0, today + 0, returned + 0 end
  if minute < clock - clock % 1440 then today = 0 end
  return clock, 0, 0, today + 0, 0
end

local stored = redis.call('GET', KEYS[1]) or '0 0 0 0'
local minute, passed, rejected, today, rest = string.match(stored, '(%d+) (%d+) (%d+) (%d+)(.*)')
local returned, shared_until, shared_end = 0, 0, 0
if rest ~= '' then
  returned, shared_until, shared_end = string.match(rest, '(%d+) (%d+) (%d+)')
  shared_until, shared_end = shared_until + 0, shared_end + 0
end

-- Like counter.merge in policy.go.
local clock = math.floor(now / 60000)
minute, passed, rejected, today, returned = as_of(clock, minute, passed, rejected, today, returned)
local known_minute, known_passed, known_rejected, known_today, known_returned =
  as_of(clock, ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[11])
clock = math.max(minute, known_minute)
minute, passed, rejected, today, returned = as_of(clock, minute, passed, rejected, today, returned)
known_minute, known_passed, known_rejected, known_today, known_returned =
  as_of(clock, known_minute, known_passed, known_rejected, known_today, known_returned)
passed, rejected = math.max(passed, known_passed), math.max(rejected, known_rejected)
today, returned = math.max(today, known_today), math.max(returned, known_returned)

-- A ban that is shared for longer than a minute was shared while the clock was fast.
local banned = ARGV[3] + 0 <= now and now < ARGV[4] + 0
local share = banned and ARGV[12]
if banned or now >= shared_until or now >= shared_end or shared_until > now + 60000 then shared_end = 0 end
local n = ARGV[5] + 0
if share or n ~= 0 and not banned and shared_end == 0 then
  local per_minute, per_day = ARGV[1] + 0, ARGV[2] + 0
  local left, last = per_minute - passed + returned, minute + 1
  if per_day > 0 then
    left, last = math.min(left, per_day - today), minute - minute % 1440 + 1440
  end
  local pass, refuse, give_back = 0, 0, 0
  if share then
    shared_until, shared_end = now + share, ARGV[4] + 0
  elseif n > 0 then
    pass = math.max(0, math.min(n, left))
    refuse = n - pass
  elseif minute == ARGV[13] + 0 then
    give_back = math.min(-n, passed - returned)
  end
  local rest = ''
  if share or returned + give_back > 0 then
    rest = string.format(' %.0f %.0f %.0f', returned + give_back, shared_until, shared_end)
  end
  -- The counter outlives its last window by a minute, in case the clock steps back. Before version 7, call would replace
  -- the code of an error, such as READONLY, with its own.
  local done = redis.pcall('SET', KEYS[1],
    string.format('%.0f %.0f %.0f %.0f', minute, passed + pass, rejected + refuse, today + pass) .. rest,
    'PX', string.format('%.0f', (last + 1) * 60000 - now))
  if done.err then return done end
end
return {now, minute, passed, rejected, today, returned, shared_end}
