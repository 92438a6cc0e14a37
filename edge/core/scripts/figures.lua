-- Figures for operators; no decision reads them. When places were taken is noted by the sweep, so a join costs nothing more:
-- 'line:from:to:since:until' in JOINS says that the places above `from` up to `to` were taken between these two times.
-- FIGURES counts by length of time: 'w' waited until they came in, 'l' gave their place up, 's' fell silent; bucket 0 is under a
-- second, each further one is a third of a doubling wide (edge/core/figures.py reads them), 'w-' is one whose time is not known.
local NOTE_EVERY_MS = 1000
-- With twice as many notes each new one stands for twice as long a time.
local NOTES_KEPT = 512
local NOTES_AT_MOST = 4096
local WAITS_AT_ONCE = 500
local LAST_BUCKET = 52
-- Who closed the page and is not back by then has gone: a hidden tab asks once a minute.
local AWAY_MS = 75000

local function note_joins_of(s, line)
  if line.length > line.noted and line.noted_at > 0 then
    local note = { line.index, text(line.noted), text(line.length), text(line.noted_at), text(s.clock) }
    call('ZADD', JOINS, text(line.base + line.length), table.concat(note, ':'))
  end
  -- How many places a minute a line gives, in thousandths: a mean that forgets in a minute.
  local span = s.clock - line.noted_at
  if line.noted_at > 0 and span > 0 then
    local per_minute, fresh = (line.length - line.noted) * 60000000 / span, 1 - math.exp(-span / 30000)
    line.arriving = math.floor(line.arriving + (per_minute - line.arriving) * fresh + 0.5)
  end
  line.noted, line.noted_at = line.length, s.clock
end

local function note_joins(s)
  for _, line in ipairs(s.lines) do
    if s.clock >= line.note_at then
      note_joins_of(s, line)
      local count = call('ZCARD', JOINS)
      if count > NOTES_KEPT then call('ZREMRANGEBYSCORE', JOINS, text(line.base), text(line.base + line.cursor)) end
      if count > NOTES_AT_MOST then call('ZREMRANGEBYRANK', JOINS, '0', '999') end
      line.note_at = s.clock + NOTE_EVERY_MS * 2 ^ math.floor(count / NOTES_KEPT)
    end
  end
end

-- When a place was taken, Unix ms, to about a second; not before the opening, from which on people can be said to wait. nil if that
-- is not known any more.
local function joined_at(s, line, position)
  local from, to, since, till = line.noted, line.length, line.noted_at, s.clock
  if position <= line.drawn then return s.opened_at end
  if position <= line.noted then
    local note = call('ZRANGEBYSCORE', JOINS, text(line.base + position), '(' .. text(line.base + LINE), 'LIMIT', '0', '1')[1]
    if not note then return nil end
    from, to, since, till = string.match(note, '^%d+:(%d+):(%d+):(%d+):(%d+)$')
    if position <= from + 0 then return nil end
  end
  return math.max(s.opened_at, since + (position - from) / (to - from) * (till - since))
end

-- Counts `weight` people under `kind` who had been in line until `at_ms`.
local function count_time(s, counts, kind, member, at_ms, weight)
  local line, position = find_line(s, member)
  local since, bucket = joined_at(s, line, position), '-'
  if since then
    local seconds = (at_ms - since) / 1000
    bucket = seconds < 1 and 0 or math.min(LAST_BUCKET, 1 + math.floor(3 * math.log(seconds) / math.log(2)))
  end
  local field = kind .. bucket
  counts[field] = (counts[field] or 0) + weight
  return field
end

local function keep_counts(counts)
  for field, count in pairs(counts) do call('HINCRBY', FIGURES, field, text(count)) end
end

-- Those who came in since the last sweep; of more than can be looked at, the rest count as the last of them.
local function note_waits(s)
  local from, to = text(s.counted_until), '(' .. text(s.clock)
  local came = call('ZRANGEBYSCORE', CLAIMS, from, to, 'WITHSCORES', 'LIMIT', '0', text(WAITS_AT_ONCE))
  if #came == 0 then return end
  local counts, field = {}, nil
  for i = 1, #came, 2 do field = count_time(s, counts, 'w', came[i], came[i + 1] + 0, 1) end
  if #came == 2 * WAITS_AT_ONCE then
    counts[field] = counts[field] + call('ZCOUNT', CLAIMS, from, to) - WAITS_AT_ONCE
  end
  keep_counts(counts)
end

local function note_given_up(s, member)
  if is_before_opening(s) then
    call('HINCRBY', FIGURES, 'early', '1')
    return
  end
  local counts = {}
  count_time(s, counts, 'l', member, s.clock, 1)
  keep_counts(counts)
end

-- `silent`: members and their last signs of life, by the stopwatch of presence; each stands for `weight` people.
local function note_silent(s, silent, weight)
  local counts = {}
  for i = 1, #silent, 2 do
    count_time(s, counts, 's', silent[i], s.clock - (s.lease - math.abs(silent[i + 1])), weight)
  end
  keep_counts(counts)
end

-- Of the sample: a page that is closed says so, but a reload says the same, so it gets the time to come back.
local function leave_for_now(s, member)
  if call('ZSCORE', SAMPLE, member) then call('ZADD', SAMPLE, text(-s.lease), member) end
end

local function forget_silent(s)
  for _, range in ipairs({ { '(0', text(s.lease - SAMPLE_KEPT_MS) }, { text(AWAY_MS - s.lease), '(0' } }) do
    local silent = call('ZRANGEBYSCORE', SAMPLE, range[1], range[2], 'WITHSCORES', 'LIMIT', '0', text(SWEEP))
    if #silent > 0 then
      note_silent(s, silent, s.sample_every)
      for i = 1, #silent, 2 do call('ZREM', SAMPLE, silent[i]) end
    end
  end
end
