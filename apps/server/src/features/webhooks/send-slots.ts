/** Attempts that may run at once on this node. A receiver is one user's deliveries to one destination. */
export interface SendLimits {
  total: number;
  perDestination: number;
  perReceiver: number;
  /** Or the plan's `parallel`, if that is lower. */
  perUser: number;
}

export interface Receiver {
  destination: string;
  userId: string;
}

export interface Waiting extends Receiver {
  /** Deliveries that may be sent now. */
  due: number;
  /** Limit of the user's plan; null: unlimited. */
  parallel: number | null;
}

export interface Allotment extends Receiver {
  count: number;
}

export interface SendSlots {
  /** Chooses what to claim: one delivery of each user before a second of any. */
  allot(waiting: readonly Waiting[]): Allotment[];
  take(receiver: Receiver): void;
  release(receiver: Receiver): void;
  /** A receiver that timed out gets one attempt at a time, after all others, until it answers. */
  note(receiver: Receiver, answered: boolean): void;
}

/** Users choose the destinations, so the number of remembered receivers is bounded. */
const maxTripped = 2000;

type Counts = Map<string, number>;

interface Candidate extends Waiting {
  isTripped: boolean;
  perUser: number;
  most: number;
  count: number;
}

/** A destination is an origin: neither it nor a user id contains a space. */
const keyOf = ({ destination, userId }: Receiver) => `${destination} ${userId}`;

export function createSendSlots(limits: SendLimits): SendSlots {
  let total = 0;
  const byReceiver: Counts = new Map();
  const byDestination: Counts = new Map();
  const byUser: Counts = new Map();
  const tripped = new Set<string>();

  function change(receiver: Receiver, by: number): void {
    total += by;
    add(byReceiver, keyOf(receiver), by);
    add(byDestination, receiver.destination, by);
    add(byUser, receiver.userId, by);
  }

  /** Attempts to tripped receivers, by user. */
  function countProbes(): Counts {
    const probes: Counts = new Map();
    for (const key of tripped) add(probes, key.split(" ")[1] ?? "", byReceiver.get(key) ?? 0);
    return probes;
  }

  return {
    allot(waiting) {
      const planned = { destinations: new Map(byDestination), users: new Map(byUser), probes: countProbes() };
      const candidates = shuffled(waiting).map((one): Candidate => {
        const isTripped = tripped.has(keyOf(one));
        const free = (isTripped ? 1 : limits.perReceiver) - (byReceiver.get(keyOf(one)) ?? 0);
        const perUser = Math.min(limits.perUser, one.parallel ?? limits.perUser);
        return { ...one, isTripped, perUser, most: Math.min(free, one.due), count: 0 };
      });
      const fits = ({ destination, userId, isTripped, perUser, most, count }: Candidate) =>
        count < most &&
        of(planned.destinations, destination) < limits.perDestination &&
        of(planned.users, userId) < perUser &&
        // Half of a user's slots stay free for receivers that answer.
        (!isTripped || of(planned.probes, userId) < Math.ceil(perUser / 2));
      const users = Map.groupBy(candidates, ({ userId }) => userId);
      for (let free = limits.total - total; free > 0 && users.size > 0; ) {
        const userId = leastBusy(users.keys(), planned.users);
        const next = users.get(userId)?.filter(fits).reduce(better, undefined);
        if (!next) {
          users.delete(userId);
          continue;
        }
        free--;
        next.count++;
        add(planned.destinations, next.destination, 1);
        add(planned.users, userId, 1);
        if (next.isTripped) add(planned.probes, userId, 1);
      }
      return candidates.filter(({ count }) => count > 0);
    },
    take: (receiver) => change(receiver, 1),
    release: (receiver) => change(receiver, -1),
    note(receiver, answered) {
      const key = keyOf(receiver);
      tripped.delete(key);
      if (answered) return;
      tripped.add(key);
      const [oldest] = tripped;
      if (tripped.size > maxTripped && oldest !== undefined) tripped.delete(oldest);
    },
  };
}

const of = (counts: Counts, key: string): number => counts.get(key) ?? 0;

function add(counts: Counts, key: string, by: number): void {
  const count = of(counts, key) + by;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}

function leastBusy(userIds: Iterable<string>, running: Counts): string {
  return [...userIds].reduce((least, userId) => (of(running, userId) < of(running, least) ? userId : least));
}

/** Receivers that answer first, then those that got fewer slots. */
function better(best: Candidate | undefined, one: Candidate): Candidate {
  if (!best) return one;
  const order = Number(one.isTripped) - Number(best.isTripped) || one.count - best.count;
  return order < 0 ? one : best;
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, lot: Math.random() }))
    .sort((a, b) => a.lot - b.lot)
    .map(({ item }) => item);
}
