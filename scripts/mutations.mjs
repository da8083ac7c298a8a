/**
 * Rules that some test must protect. `find` occurs exactly once in `file`; `tests` is the smallest set of files that must
 * fail when it is replaced. After a rename, mend `find` here: `npm run mutate` names each mutation that no longer applies.
 */
const server = "apps/server/src/";
const predictions = `${server}features/predictions/`;
const billing = `${server}features/billing/`;
const runs = `${server}features/runs/`;
const frontDoor = "apps/server/test/front-door/";

const core = [`${predictions}core.test.ts`];
const charges = [`${predictions}admission/charge.rules.test.ts`];
const money = [`${server}kernel/money.test.ts`];
const slots = [`${frontDoor}runs/slots.test.ts`];
const marketplace = [`${frontDoor}runs/marketplace.test.ts`];
const confirmations = [`${frontDoor}runs/confirmations.test.ts`];
const confinedKeys = [`${frontDoor}accounts/confined-keys.test.ts`];
const keyAgents = [`${frontDoor}accounts/key-agents.test.ts`];
const aliases = [`${server}features/models/aliases.test.ts`];
const aliasModels = [`${frontDoor}agents/alias-models.test.ts`];
const embeddings = [`${frontDoor}doors/embeddings.test.ts`];
const images = [`${frontDoor}doors/images.test.ts`];
const accessTable = [`${frontDoor}accounts/access-table.test.ts`];

/** Rows: what the rule says, the text that states it, a text that breaks it. */
const rules = (area, file, tests, rows) =>
  rows.map(([name, find, replace]) => ({ name: `${area}: ${name}`, file, find, replace, tests }));

export const mutations = [
  ...rules("money", `${server}kernel/money.ts`, money, [
    ["amounts are rounded half up", "const shifted = pico + half;", "const shifted = pico;"],
    ["cached tokens are part of the input", "Math.min(used.cachedTokens, used.inputTokens)", "used.cachedTokens"],
    ["a token has one price", "used.inputTokens - cached - written)", "used.inputTokens - written)"],
    [
      "cached tokens cost as much as others by default",
      "pricing.per_million_cached_tokens ?? pricing.per_million_input_tokens ?? 0",
      "pricing.per_million_cached_tokens ?? 0",
    ],
    ["amounts are exact", "if (!Number.isSafeInteger(micros))", "if (Number.isNaN(micros))"],
  ]),
  ...rules("charge", `${predictions}admission/charge.rules.ts`, charges, [
    ["a cancelled request is free", "{ requests: 0, outputs: 0 }", "{ requests: 1, outputs: 0 }"],
    ["input is bounded", "Math.min(usage.inputTokens, bounds.inputTokens)", "usage.inputTokens"],
    ["output is bounded", "Math.min(usage.outputTokens, bounds.outputTokens)", "usage.outputTokens"],
    ["time is bounded", "seconds: Math.min(seconds, bounds.seconds)", "seconds"],
    ["files are bounded", "outputs: Math.min(outputs, bounds.outputs)", "outputs"],
    ["counts must be integers", "Number.isInteger(count) && count >= 0", "count >= 0"],
  ]),
  ...rules(
    "reservation",
    `${billing}reservation.rules.ts`,
    [`${billing}reservation.rules.test.ts`],
    [
      ["the dearest input price counts", "Math.max(fresh, cached, written)", "fresh"],
      ["Anthropic's cache writes cost more", "const anthropicCacheWrite = 1.25;", "const anthropicCacheWrite = 1;"],
    ],
  ),
  ...rules(
    "reservation",
    `${predictions}admission/reserve.ts`,
    [`${predictions}admission/reserve.test.ts`, `${frontDoor}billing/bounded-charges.test.ts`],
    [
      ["input has slack for other tokenizers", "Math.ceil(countedTokens * 1.25) + 64", "countedTokens"],
      ["max_tokens below one bounds nothing", "maxTokens !== undefined && maxTokens >= 1", "maxTokens !== undefined"],
      ["the upstream gets the reserved limit", "input.max_tokens === bounds.outputTokens ?", "input ?"],
    ],
  ),
  ...rules(
    "credit",
    `${billing}credits.ts`,
    [`${server}http/account-api/money-routes.test.ts`],
    [
      ["a wallet has a limit", "Math.abs(balance + request.amount) > mostInWallet", "Number.isNaN(balance)"],
      ["a key names one amount", "earlier.amount !== request.amount ||", ""],
    ],
  ),
  ...rules(
    "ledger",
    `${billing}sql/ledger.sql`,
    [`${billing}ledger.test.ts`],
    [["the payer pays", "case w.user_id when payee_id then amount else -amount end", "amount"]],
  ),
  ...rules(
    "ledger",
    `${billing}sql/ledger.sql`,
    [`${billing}usage-upkeep.test.ts`],
    [
      ["usage is charged once", "where created_at >= since and created_at < until", "where created_at < until"],
      ["folded usage only", "where folded_until < until", "where folded_until < '-infinity'"],
    ],
  ),
  ...rules(
    "usage",
    `${billing}sql/usage.sql`,
    [`${billing}usage-folding.test.ts`, `${billing}usage-queries.test.ts`],
    [
      ["hours add up", "spent_micros = h.spent_micros + excluded.spent_micros", "spent_micros = excluded.spent_micros"],
      ["rows are folded once", "created_at > since\n", "created_at >= since\n"],
    ],
  ),

  ...rules("admission", `${predictions}sql/admit.sql`, core, [
    ["a balance below zero refuses", "when (w.available < 0 or key_left <= 0)", "when (key_left <= 0)"],
    ["a key's budgets are strict", "when a.reservation > key_left then", "when 0 > key_left then"],
    ["a key's day is a budget", ", k.per_day - k.day_used, kp.per_month", ", kp.per_month"],
    ["a parent's month is a budget", ", kp.per_month - kp.month_used,\n", ",\n"],
    ["a key's tokens are exact", "a.tokens > least(k.per_minute - k.minute_used,", "a.tokens > least(k.per_minute,"],
    ["a parent's tokens are exact", ", kp.per_minute - kp.minute_used) then", ", kp.per_minute) then"],
    ["too many tokens never fit", "when a.tokens > least(k.per_minute, kp.per_minute) then", "when false then"],
    [
      "a parent counts what its keys spend",
      "if z is not null then kp := after_arrival(kp, a);",
      "if z is not null then",
    ],
    ["a key stops with its parent", "q.revoked_at is null and (q.expires_at", "(q.expires_at"],
    ["sponsored calls do not count", "      if not a.sponsored then\n", "      if true then\n"],
    ["the plan's minute is exact", "(w.minute).requests >= w.per_minute", "(w.minute).requests > w.per_minute"],
    ["the plan's parallel limit is exact", "w.running >= w.parallel then", "w.running > w.parallel then"],
    ["capacity is never exceeded", "m.running < m.capacity and", "m.running <= m.capacity and"],
    ["arrivals do not overtake the queue", "if not (m.waiting = 0 and", "if not ("],
    ["one batch cannot spend the same money twice", "w.available - a.reservation,", "w.available,"],
    ["calls that others pay must be covered", "and w.available < a.reservation then", "and w.available < 0 then"],
    ["only the claiming node calls for a run", "r.holder = node and r.call_id = call", "r.call_id = call"],
    ["a revoked key is refused", "and c.revoked_at is null and", "and"],
    ["an inactive model is refused", "when m.capacity = 0 then", "when m.capacity < 0 then"],
    ["a retired model is refused", "when d is null or m.is_retired then", "when d is null then"],
    ["reservations are written", "reserved_micros = s.reserved_micros + w.more_reserved,", ""],
    ["a key's reservations are written", "s.reserved_micros + k.more\n", "s.reserved_micros\n"],
    ["a day's reservations are written", "s.reserved_micros + k.more where", "s.reserved_micros where"],
  ]),
  ...rules(
    "admission",
    `${predictions}sql/admit.sql`,
    [`${predictions}admission/write-predictions.test.ts`],
    [["a promised id is accepted once", "when a.promised and is_accepted(a.id) then", "when false then"]],
  ),
  ...rules("settlement", `${predictions}sql/end.sql`, core, [
    ["a charge stays within its reservation", "e.price := least(e.price, l.reserved_micros);", ""],
    ["only the current claim settles", "x.claim = e.claim and", ""],
    ["the charge leaves the wallet", "balance_micros = s.balance_micros - c.price,", ""],
    ["the reservation is released", "reserved_micros = s.reserved_micros - c.reserved,", ""],
    [
      "a key's spending counts",
      "+ r.spent\n    where s.key_id = r.key_id and s.month",
      "\n    where s.key_id = r.key_id and s.month",
    ],
    [
      "a day's spending counts",
      "+ r.spent\n    where s.key_id = r.key_id and s.day",
      "\n    where s.key_id = r.key_id and s.day",
    ],
    ["tokens are corrected", " - g.reserved_tokens) as more", ") as more"],
  ]),
  ...rules("rate limit", `${predictions}sql/minute.sql`, core, [
    ["a request counts for a minute", "exit when hits[2 * j - 1] <= now_ms - 60000;", ""],
    ["tokens count for a minute", "abs(second * 1000 - now_ms()) < 60000", "true"],
  ]),
  ...rules("slots", `${predictions}sql/slots.sql`, core, [
    ["queued predictions obey the parallel limit", "f.of_user <= coalesce(p.parallel - w.running, most)", "true"],
  ]),
  ...rules("claims", `${predictions}sql/jobs.sql`, core, [
    ["a release makes a new claim", "claim = l.claim + 1, counts_parallel", "counts_parallel"],
    ["only the current claim is released", "where l.id = g.id and l.claim = g.claim and", "where l.id = g.id and"],
  ]),

  ...rules("run claims", `${runs}sql/claim-runs.sql`, slots, [
    ["a user has the plan's parallel runs", "greatest(0, least(wanted, p.parallel - held.n))", "wanted"],
    ["a node keeps slots for other users", "(c.nth = 1 or c.place <= spare)", "true"],
  ]),
  ...rules(
    "run cost",
    `${runs}sql/write-runs.sql`,
    [`${frontDoor}runs/limits.test.ts`],
    [["holds stay within max_cost", "held := more <= 0 or coalesce(spare - cost >= more, true);", "held := true;"]],
  ),
  ...rules("sale", `${runs}sql/write-runs.sql`, marketplace, [
    ["only a finished run is sold", "case when status = 'done' then run.price_micros else 0 end", "run.price_micros"],
    [
      "the price is released",
      "update wallets w set reserved_micros = w.reserved_micros - run.price_micros",
      "update wallets w set reserved_micros = w.reserved_micros",
    ],
  ]),
  ...rules("sale", `${billing}sql/sales.sql`, marketplace, [
    ["the seller is paid", "perform move_money('sale',", "perform move_money('resale',"],
  ]),
  ...rules("confirmation", `${runs}sql/confirmations.sql`, confirmations, [
    ["it is answered once", "where id = wanted and status = 'pending' and", "where id = wanted and"],
    ["it expires", "expires_at > clock_timestamp())", "true)"],
  ]),

  ...rules(
    "confinement",
    `${server}features/accounts/key-reach.rules.ts`,
    [`${server}features/accounts/rules.test.ts`],
    [
      [
        "a limited key manages only itself",
        "if (isConfined(own) || isLimited(own)) return false;",
        "if (isConfined(own)) return false;",
      ],
      ["a key cannot outlive its creator", "&& target.expiresAt <= end", ""],
      ["a replaced secret administrates nothing", "&& own.graceEndsAt === null", ""],
    ],
  ),
  ...rules("confinement", `${server}features/accounts/key-reach.rules.ts`, confinedKeys, [
    ["a key sees what it started", "isConfined(caller) ? caller.keyId : null", "null"],
    ["a key calls its own models", "models.includes(name)", "models.length > 0"],
  ]),
  ...rules("confinement", `${server}features/agents/key-reach.ts`, keyAgents, [
    ["a key runs the agents that it lists", "if (keyReaches(caller, agentName(agent))) return true;", ""],
  ]),
  ...rules("confinement", `${runs}work/access.ts`, keyAgents, [
    ["a listed agent includes its sub-agents", "[id, ...ancestors], agents)", "[id], agents)"],
  ]),
  ...rules("confinement", `${runs}tools/run-model.ts`, keyAgents, [
    ["an agent chooses only models in the list", "scope.isListed && isFixed(scope)", "scope.isListed"],
  ]),
  ...rules("confinement", `${runs}work/ask-model.ts`, aliasModels, [
    ["an alias that moves leads to no other model", "isListed || keyReaches(caller, endpointId)", "true"],
  ]),
  ...rules("aliases", `${runs}work/access.ts`, aliasModels, [
    [
      "an agent's alias is its creator's",
      "modelOf({ models }, run.ownerId, snapshot)",
      "modelOf({ models }, run.userId, snapshot)",
    ],
  ]),
  ...rules("aliases", `${server}features/models/alias-store.ts`, aliases, [
    ["a user's own alias wins", "order by owner_id nulls last limit 1", "order by owner_id nulls first limit 1"],
  ]),
  ...rules("aliases", `${server}features/models/alias-memory.ts`, aliases, [
    ["a change for all users reaches every cache", "known.endsWith(key)", "known === key"],
  ]),
  ...rules("embeddings", `${predictions}execution/embed.ts`, embeddings, [
    ["vectors are kept for repeats only", "request.predictionId !== undefined && canBeStored(vectors)", "true"],
    ["all texts are reserved", 'deps.estimateTokens(texts.join("\\n"))', 'deps.estimateTokens(texts[0] ?? "")'],
    ["the answer shows the charged tokens", "chargedUsage(usage, terms.bounds).inputTokens", "usage.inputTokens"],
  ]),
  ...rules("images", `${server}http/openai-api/images-routes.ts`, images, [
    ["a client that leaves stops every image", 'signal.addEventListener("abort", stop, { once: true });', "{}"],
    ["images that succeeded are returned", "if (created.length === 0) throw failed;", "if (failed) throw failed;"],
  ]),
  ...rules("images", `${server}http/doors/answer-once.ts`, images, [
    ["each image has an Idempotency-Key of its own", "part === 0 ? presented", "part >= 0 ? presented"],
  ]),
  ...rules("confinement", `${server}http/foundation/access-table.ts`, accessTable, [
    ["admin routes need an admin", '&& caller.role !== "admin")', "&& caller.role === undefined)"],
    [
      "a replaced secret manages nothing",
      '=== "refuse" && caller.graceEndsAt !== null',
      '=== "refuse" && caller.graceEndsAt === undefined',
    ],
    ["a confined key is refused", '=== "refuse" && isConfined(caller)', '=== "refuse" && isConfined(caller) && false'],
    ["a limited key changes no prices", "&& isLimited(caller)", "&& !isLimited(caller)"],
  ]),
];
