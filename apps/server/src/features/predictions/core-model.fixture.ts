import {
  countKeys,
  dayAfter,
  firstDay,
  hasNoTokens,
  isLargerThanMinute,
  type Key,
  keysOf,
  leftOf,
  lineOf,
  minute,
  settleKeys,
  untilTokens,
} from "./core-keys.fixture.ts";
import {
  type Answer,
  type Arrival,
  byClient,
  changeWorld,
  type Decision,
  type End,
  found,
  isWithin,
  type Live,
  type Model,
  mapOf,
  type Operation,
  orders,
  type Plan,
  queueOf,
  rateOf,
  type State,
  stateOf,
  type User,
  type Verdict,
  type World,
} from "./core-world.fixture.ts";

/**
 * The rules of admission, limits, money and queues in plain TypeScript: the behaviour that the SQL functions must have.
 *
 * Time is virtual. If the rules leave open which of several predictions starts (they were last served in the same call),
 * the model starts those that the engine has started.
 */
export class CoreModel {
  readonly live = new Map<string, Live>();
  readonly users: Map<string, User>;
  readonly keys: Map<string, Key>;
  readonly models: Map<string, Model>;
  readonly #ended: State["ended"] = {};
  readonly #runs: Map<string, World["runs"][string] & { holder: string; call: string }>;
  readonly #plans: Map<string, Plan>;
  #today = firstDay;
  #now = 0;
  /** The predictions that the engine started in this operation. */
  #started: ReadonlySet<string> = new Set();
  #accepted = 0;
  #step = 0;

  constructor(world: World) {
    this.#plans = mapOf(world.plans, (plan) => plan);
    this.users = mapOf(world.users, ({ plan, balance }) => ({
      ...{ plan: found(this.#plans, plan), balance, reserved: 0, running: 0, requests: [] },
    }));
    this.keys = keysOf(world.keys);
    this.models = mapOf(world.models, (model) => ({ ...model, retired: false, servedAt: -1, servedSteps: new Map() }));
    this.#runs = mapOf(world.runs, (run) => ({ ...run, holder: "", call: "" }));
    for (const { user, key, price } of Object.values(world.runs)) {
      found(this.users, user).reserved += price;
      countKeys(found(this.keys, key), { today: this.#today, now: this.#now, reservation: price, tokens: 0 });
    }
  }

  apply(operation: Operation, started: ReadonlySet<string>): Answer {
    this.#step++;
    this.#started = started;
    const hadJob = this.#hasJob();
    const answer = this.#apply(operation);
    const isNew = answer.decisions?.some(({ verdict }) => verdict === "wait");
    if (answer.ended?.includes(true) && !isNew && !hadJob && this.#hasJob()) answer.wake = true;
    return answer;
  }

  #apply(operation: Operation): Answer {
    switch (operation.kind) {
      case "write":
        return this.#write(operation);
      case "settle": {
        const { ended, models } = this.#end(operation.ends, true);
        return { ended, granted: this.#grant(models, false) };
      }
      case "look":
        return { decisions: [this.#decide(operation.arrival, operation.node, operation.counts ? "count" : "look")] };
      case "claim":
        return { ids: this.#startJobs(this.#choose(operation.slots), operation.node, operation.slots) };
      case "release":
        return { ids: operation.ids.filter((one) => this.#release(one, operation.died)).map(({ id }) => id) };
      case "start calls":
        return { ids: this.#startCalls(operation.node) };
      case "grant free slots":
        this.#grant([...this.models.keys()], true);
        return {};
      case "day":
      case "month":
        this.#today = dayAfter(operation.kind, this.#today);
        return {};
      case "pass":
        this.#now += operation.ms;
        return {};
      default:
        changeWorld({ ...this, runs: this.#runs, plans: this.#plans }, operation);
        return {};
    }
  }

  claimOf(id: string): number {
    return this.live.get(id)?.claim ?? 1;
  }

  state(): State {
    const countsOf = (model: string) => ({ running: this.#running(model), waiting: this.#waiting(model).length });
    return stateOf(this, { ...this.#ended }, countsOf, this.#now);
  }

  #running(model: string, user?: string): number {
    let running = 0;
    for (const one of this.live.values())
      if (one.started && one.model === model && (user === undefined || one.user === user)) running++;
    return running;
  }

  #waiting(model: string): Live[] {
    return [...this.live.values()].filter((one) => one.model === model && !one.started);
  }

  #free(model: string): number {
    return found(this.models, model).capacity - this.#running(model);
  }

  /** How many more predictions of a user may run. */
  #slotsLeft(user: string): number {
    const { plan, running } = found(this.users, user);
    return plan.parallel === null ? Number.POSITIVE_INFINITY : plan.parallel - running;
  }

  // Admission

  #verdict(arrival: Arrival, node: string): Verdict {
    const [user, key] = [found(this.users, arrival.user), found(this.keys, arrival.key)];
    const model = found(this.models, arrival.model);
    const run = arrival.run === null ? undefined : found(this.#runs, arrival.run);
    const available = user.balance - user.reserved;
    const left = leftOf(key, this.#today);
    if (run && (run.holder !== node || run.call !== arrival.id)) return "run_lost";
    if (lineOf(key).some(({ revoked }) => revoked)) return "key_gone";
    if (model.retired) return "model_retired";
    if (model.capacity === 0) return "model_inactive";
    if (arrival.sponsored) return available < arrival.reservation ? "no_funds" : "run";
    if (arrival.reservation > left) return "no_funds";
    if (arrival.mustBeCovered && arrival.reservation > 0 && available < arrival.reservation) return "no_funds";
    if (available < 0 || left <= 0) {
      // The price of a run and its ancestors is reserved already and does not refuse their own calls.
      let own = 0;
      for (let one = run; one; one = one.parent === null ? undefined : found(this.#runs, one.parent)) own += one.price;
      if (own === 0 || available + own < 0 || left + own <= 0) return "no_funds";
    }
    if (isLargerThanMinute(key, arrival.tokens)) return "too_many_tokens";
    if (arrival.route !== "agent" && this.#requests(user).length >= (user.plan.perMinute ?? Number.POSITIVE_INFINITY))
      return "rate_limit";
    if (hasNoTokens(key, arrival.tokens, this.#now)) return "token_limit";
    if (byClient(arrival) && this.#slotsLeft(arrival.user) <= 0) return "too_many_parallel";
    return "run";
  }

  #requests(user: User): number[] {
    return user.requests.filter((at) => at > this.#now - minute);
  }

  #decide(arrival: Arrival, node: string, purpose: "run" | "count" | "look"): Decision {
    const user = found(this.users, arrival.user);
    const { perMinute } = user.plan;
    let verdict = this.#verdict(arrival, node);
    let retryAfterMs: number | null = null;
    if (verdict === "too_many_parallel") retryAfterMs = 1000;
    if (verdict === "rate_limit") {
      const requests = this.#requests(user);
      const leaves = requests[requests.length - (perMinute ?? 0)] ?? this.#now;
      retryAfterMs = leaves + minute - this.#now;
    }
    if (verdict === "token_limit") retryAfterMs = untilTokens(found(this.keys, arrival.key), arrival.tokens, this.#now);
    if (verdict === "run") {
      if (purpose !== "look" && arrival.route !== "agent" && perMinute !== null) user.requests.push(this.#now);
      if (purpose === "run" && !this.#accept(arrival, node)) verdict = "wait";
    }
    const rate = arrival.route === "agent" ? null : rateOf(perMinute, this.#requests(user), this.#now);
    return { verdict, rate, retryAfterMs };
  }

  /** Returns whether the prediction starts. */
  #accept(arrival: Arrival, node: string): boolean {
    const { id, model, route, reservation, tokens, sponsored, webhook, highPriority } = arrival;
    const [user, key] = [found(this.users, arrival.user), found(this.keys, arrival.key)];
    const isFree = this.#waiting(model).length === 0 && this.#free(model) > 0;
    const mayRun = sponsored || this.#slotsLeft(arrival.user) > 0;
    const started = isFree && (byClient(arrival) || (mayRun && (route === "agent" || arrival.here)));
    const counts = byClient(arrival) || (started && !sponsored);
    user.reserved += reservation;
    if (counts) user.running++;
    const counted = sponsored ? [] : countKeys(key, { today: this.#today, now: this.#now, reservation, tokens });
    this.live.set(id, {
      ...{ id, user: arrival.user, key: sponsored ? null : arrival.key, model, route, highPriority },
      ...{ holder: route === "async" && !started ? null : node, claim: 1, deaths: 0, reserved: reservation },
      ...{ counted, counts, started, webhook, age: this.#accepted++ },
    });
    if (!started) this.#queue(arrival);
    return started;
  }

  /** Queued predictions are chosen before anything ends, and start last, as far as limits allow. */
  #write({ node, ends, arrivals, slots }: Operation & { kind: "write" }): Answer {
    const chosen = this.#choose(slots);
    const { ended, models } = this.#end(ends, false);
    const waitedFor = models.filter((model) => this.#waiting(model).length > 0);
    const decisions = arrivals.map((arrival) => this.#decide(arrival, node, "run"));
    if (decisions.some(({ verdict }) => verdict === "wait"))
      this.#grant([...new Set(arrivals.map(({ model }) => model))].sort(), false);
    // The arrival itself may have been granted the slot in the same call.
    for (const [n, { id, route }] of arrivals.entries()) {
      const decision = decisions[n];
      if (decision?.verdict === "wait" && route !== "async" && this.live.get(id)?.started) decision.verdict = "run";
    }
    const ids = this.#startJobs(chosen, node, slots);
    return { decisions, ended, ids, granted: this.#grant(waitedFor, false) };
  }

  // Settlement

  #end(ends: readonly End[], withWebhooks: boolean): { ended: boolean[]; models: string[] } {
    const models = new Set<string>();
    const ended = ends.map((end) => {
      const { id, stale, status } = end;
      const prediction = this.live.get(id);
      if (!prediction || stale || (prediction.webhook && !withWebhooks)) return false;
      const { user, key, model, route, reserved, counted, started } = prediction;
      const price = Math.min(end.price, reserved);
      this.live.delete(id);
      this.#ended[id] = { user, key, route, status, reserved, price, started };
      const wallet = found(this.users, user);
      wallet.balance -= price;
      wallet.reserved -= reserved;
      if (prediction.counts) wallet.running--;
      settleKeys(counted, { reserved, price, tokens: end.tokens });
      models.add(model);
      return true;
    });
    this.#start([...models], []);
    return { ended, models: [...models].sort() };
  }

  // Queues

  #queue(one: { user: string; highPriority: boolean; model: string }): void {
    const { servedSteps } = found(this.models, one.model);
    if (!servedSteps.has(queueOf(one))) servedSteps.set(queueOf(one), -1);
  }

  /**
   * The first n of a model's queue among those that may run: high priority first, then one of each user before a second of
   * any, counting those that run already. Among equals, the user who was served longest ago comes first.
   */
  #front(model: string, n: number, clientsOnly: boolean, mine: (one: Live) => boolean): Live[] {
    const { servedSteps } = found(this.models, model);
    const mayRun = (one: Live) =>
      byClient(one) || (!clientsOnly && (one.key === null || this.#slotsLeft(one.user) > 0));
    // Ties are decided as the engine decided them.
    const chance = (one: Live) => (!mine(one) ? 1 : this.#started.has(one.id) ? 0 : 2);
    const older = (a: Live, b: Live) => a.age - b.age;
    const queues = Map.groupBy(this.#waiting(model).filter(mayRun), queueOf);
    // Twice the fair share of each.
    const each = 1 + Math.floor((2 * n) / Math.max(queues.size, 1));
    const entries = [...queues.values()].flatMap((queue) =>
      queue
        .toSorted(older)
        .slice(0, each)
        .map((one, at) => ({
          one,
          rank: at + this.#running(model, one.user),
          last: servedSteps.get(queueOf(one)) ?? -1,
        })),
    );
    entries.sort(
      (a, b) =>
        Number(b.one.highPriority) - Number(a.one.highPriority) ||
        a.rank - b.rank ||
        a.last - b.last ||
        (a.last >= 0 && queueOf(a.one) !== queueOf(b.one) ? chance(a.one) - chance(b.one) : 0) ||
        older(a.one, b.one),
    );
    return entries.slice(0, n).map(({ one }) => one);
  }

  /** A queue whose last prediction has left is removed, with the step in which it was last served. */
  #start(models: readonly string[], starting: readonly Live[]): void {
    for (const one of starting) one.started = true;
    for (const id of models) {
      const { servedSteps } = found(this.models, id);
      const waits = new Set(this.#waiting(id).map(queueOf));
      const served = new Set(starting.filter(({ model }) => model === id).map(({ user }) => user));
      for (const queue of [...servedSteps.keys()]) {
        const isServed = served.has(queue.split(" ")[1] ?? "");
        if (waits.has(queue)) {
          if (isServed) servedSteps.set(queue, this.#step);
        } else servedSteps.delete(queue);
      }
    }
  }

  /** Clients at the front of the queue start at once. Others wait for a worker or for the node of their run. */
  #grant(models: readonly string[], clientsOnly: boolean): string[] {
    return models.flatMap((model) => {
      const free = this.#free(model);
      if (free <= 0) return [];
      const starting = this.#front(model, free, clientsOnly, byClient).filter(byClient);
      this.#start([model], starting);
      return starting.map(({ id }) => id);
    });
  }

  #hasJob(): boolean {
    return this.#choose(1).some((chosen) => this.#fitting(chosen).length > 0);
  }

  /** One list for each order in which the models may be served. */
  #choose(slots: number): Live[][] {
    if (slots === 0) return [];
    const isJob = (one: Live) => one.holder === null;
    const models = [...this.models.keys()].filter((id) => this.#free(id) > 0 && this.#waiting(id).length > 0);
    return orders(models, (id) => found(this.models, id).servedAt).map((order) => {
      const chosen: Live[] = [];
      for (const model of order) {
        if (chosen.length >= slots) break;
        chosen.push(...this.#front(model, Math.min(this.#free(model), slots), false, isJob).filter(isJob));
      }
      return chosen;
    });
  }

  #startJobs(chosen: readonly Live[][], node: string, slots: number): string[] {
    const taken = this.#bestOf(chosen, slots);
    for (const one of taken) {
      Object.assign(one, { holder: node, claim: one.claim + 1, counts: true });
      found(this.users, one.user).running++;
      found(this.models, one.model).servedAt = this.#step;
    }
    this.#start([...this.models.keys()], taken);
    return taken.map(({ id }) => id);
  }

  #startCalls(node: string): string[] {
    const isMine = (one: Live) => one.route === "agent" && one.holder === node;
    const models = [...this.models.keys()].filter((id) => this.#free(id) > 0);
    const chosen = orders(models, () => 0).map((order) =>
      order.flatMap((model) => this.#front(model, this.#free(model), false, isMine).filter(isMine)),
    );
    const taken = this.#bestOf(chosen, Number.POSITIVE_INFINITY);
    for (const one of taken) {
      one.counts = one.key !== null;
      if (one.counts) found(this.users, one.user).running++;
    }
    this.#start([...this.models.keys()], taken);
    return taken.map(({ id }) => id);
  }

  /** The list that is closest to what the engine started, cut to what limits allow. */
  #bestOf(lists: readonly Live[][], most: number): Live[] {
    const results = lists.map((list) => this.#fitting(list).slice(0, most));
    const misses = (result: readonly Live[]) =>
      result.filter(({ id }) => !this.#started.has(id)).length - result.length / 1000;
    return results.toSorted((a, b) => misses(a) - misses(b))[0] ?? [];
  }

  #fitting(chosen: readonly Live[]): Live[] {
    const users = new Map<string, number>();
    const models = new Map<string, number>();
    return chosen
      .filter(({ id, started }) => this.live.has(id) && !started)
      .filter(({ user, key }) => key === null || isWithin(users, user, this.#slotsLeft(user)))
      .filter(({ model }) => isWithin(models, model, this.#free(model)));
  }

  #release({ id, stale }: { id: string; stale: boolean }, died: boolean): boolean {
    const prediction = this.live.get(id);
    if (!prediction || stale || prediction.route !== "async" || !prediction.started) return false;
    const { claim, deaths } = prediction;
    Object.assign(prediction, { started: false, holder: null, claim: claim + 1, counts: false });
    prediction.deaths = deaths + (died ? 1 : 0);
    found(this.users, prediction.user).running--;
    this.#queue(prediction);
    return true;
  }
}
