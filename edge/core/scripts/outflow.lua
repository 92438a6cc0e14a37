-- What a wait is reckoned from: how many come in a minute while people are held, and what part of those called comes in.
-- (Blocks, for a script has room for 200 local names.)

-- What holds those who are there and had the time to say so: 0 nothing (then nothing is learnt), 1 the rate, 2 the slots.
local function note_what_holds(s)
  s.held_by = 0
  if not CALLS[s.status] or s.by_hand or s.ready == 0 then return end
  for _, line in ipairs(s.lines) do
    if not is_paused(line) and count_between(READY, line, 0, line.settled) > 0 then s.held_by = slots_left(s) == 0 and 2 or 1 end
  end
end

local count_claims, ending, outflow_expected
do
  local OUTFLOW_MEMORY_MS = 120000
  -- From fewer ends of visits than this it is not said how long visits last. Up to so many more none is forgotten, for where visits are
  -- long few end in two minutes.
  local ENDS_AT_LEAST, ENDS_KEPT = 5000000, 25000000

  -- Means that forget in about this time; a longer span between two looks is none that was seen. Whether the slots hold people is
  -- known sooner than how many come in then.
  local COMING_MEMORY_MS, HOLD_MEMORY_MS, MEASURED_SPAN_MS = 60000, 20000, 30000

  -- How many come in a minute and what part of the rate that is: only of times when people were held, since an empty line says nothing
  -- of a full one. While the slots hold them as many come in as visits end: those who fill a shop at first say nothing of
  -- later. A time in which nobody asked anything, as when the store was away, is no measure.
  local function measure_outflow(s, came, span)
    local ended, fresh = came - (s.active - s.active_from), 1 - math.exp(-span / OUTFLOW_MEMORY_MS)
    local function towards(old, new) return math.floor(old + (new - old) * fresh + 0.5) end
    s.active_from = s.active
    if span <= MEASURED_SPAN_MS then
      -- So many visits ended in so many minutes of slots, which those who are called take up too: known before the shop is full.
      local kept = s.ends_seen > ENDS_KEPT and 1 - fresh or 1
      s.ends_seen = math.max(0, math.floor(s.ends_seen * kept + ended * 1000000 + 0.5))
      s.slots_seen = math.floor(s.slots_seen * kept + (s.active + s.called) * span / 0.06 + 0.5)
    end
    if s.held_by == 0 or span > MEASURED_SPAN_MS then return end
    s.outflow = towards(s.outflow, (s.held_by == 2 and ended or came) * 60000000 / span)
    s.outflow_known = towards(s.outflow_known, 1000000)
    local kept = math.exp(-span / HOLD_MEMORY_MS)
    s.slots_hold = math.floor(s.slots_hold * kept + (s.held_by == 2 and 1000000 or 0) * (1 - kept) + 0.5)
    if s.pace and s.pace > 0 then s.rate_used = towards(s.rate_used, came * 60000 / span / s.pace * 1000000) end
  end

  -- What part of those called lately comes in, in millionths: who went away since the last sign of life does not.
  local function measure_coming(s, span)
    if s.ready == 0 then s.ready_from = s.lease end
    if s.held_by == 0 or s.called == 0 or span > MEASURED_SPAN_MS then return end
    s.coming = math.floor(s.coming + (share_coming(s) * 1000 - s.coming) * (1 - math.exp(-span / COMING_MEMORY_MS)) + 0.5)
  end

  function count_claims(s)
    -- Those of this very millisecond are counted by the next sweep, with the others that may still come in it.
    local came, span = call('ZCOUNT', CLAIMS, text(s.counted_until), '(' .. text(s.clock)), s.clock - s.counted_until
    s.admitted = s.admitted + came
    if s.counted_until > 0 and span > 0 then
      measure_outflow(s, came, span)
      measure_coming(s, span)
    end
    s.counted_until = s.clock
  end

  -- Of one slot that is taken: how many visits end in a minute, in millionths; nil while too few have ended.
  function ending(s)
    if s.ends_seen < ENDS_AT_LEAST or s.slots_seen == 0 then return nil end
    return s.ends_seen / s.slots_seen * 1000000
  end

  -- Admissions a minute while the rate holds people, in thousandths, or nil: as far as it is used it is the rate, whose changes count
  -- at once; else what was seen.
  local function outflow_by_rate(s)
    local known = s.outflow_known / 1000000
    if known < 0.2 then return s.pace and s.held_by < 2 and s.pace * 1000 or nil end
    local seen, used = math.max(0, s.outflow / known), s.rate_used / known / 1000000
    if not s.pace then return seen >= 1 and seen or nil end
    local by_rate = math.max(0, math.min(1, (used - 0.8) * 10))
    if by_rate == 0 and seen < 1 then return nil end
    return math.min(s.pace * 1000, seen + (s.pace * 1000 - math.min(seen, s.pace * 1000)) * by_rate)
  end

  -- While the slots hold them: as many as visits end, of the slots that are taken and will be again; nil while too few have ended.
  local function outflow_by_slots(s)
    local each = ending(s)
    return each and each * math.min(s.active + s.called, s.max_active or math.huge) / 1000
  end

  -- Admissions a minute to reckon with, in thousandths; '' while nothing is known.
  function outflow_expected(s)
    local by_rate, by_slots = outflow_by_rate(s), s.slots_hold > 0 and outflow_by_slots(s)
    if not by_slots then return by_rate and text(by_rate) or '' end
    if s.pace then by_slots = math.min(by_slots, s.pace * 1000) end
    if not by_rate then return s.slots_hold >= 500000 and text(by_slots) or '' end
    return text(by_rate + (by_slots - by_rate) * s.slots_hold / 1000000)
  end
end

-- For how many ms those who are called now had been there without being known to have gone: since anybody is there, at most the
-- grace, and where the window slides as long as it takes to call all who are in it.
local function unseen_ms(s, outflow)
  local unseen = math.min(s.grace, s.lease - s.ready_from)
  return outflow > 0 and math.min(unseen, s.ready / outflow * 60000) or unseen
end
