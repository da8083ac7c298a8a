import type { Micros } from "../../kernel/money.ts";
import type { Route } from "./prediction.ts";

/** One to be run: with a client, for an agent's run, or queued. */
export interface PlainArrival {
  id: string;
  userId: string;
  keyId: string;
  modelId: string;
  modelName: string;
  route: Route;
  highPriority: boolean;
  reservation: Micros;
  queueSeconds: number;
  /** The run whose next model call it is. */
  runId?: string | undefined;
  /** Of a queued one: this node has a hand free for it. */
  handFree?: boolean | undefined;
  queued?: QueuedInput | undefined;
}

/** What a worker needs to run a queued one later; named as the SQL functions read it. */
export interface QueuedInput {
  input: string;
  pricing: string;
  bounds: string;
  base_url: string;
  webhook_destination?: string;
  webhook_target?: string;
}

interface Sum {
  id: string;
  name: string | undefined;
  arrivals: number;
  /** Of them, those that are requests of a plan's minute. */
  requests: number;
  /** Those that are held here, and the queued ones with a free hand. */
  clients: number;
  here: number;
  reserved: Micros;
}

/** What arrivals come to by one of their owners, and which owner each has. */
class Sums {
  readonly sums: Sum[] = [];
  /** By arrival, counted from 1 as SQL does. */
  readonly places: number[] = [];
  readonly #placeOf = new Map<string, number>();

  add(id: string, { reservation, route, handFree }: PlainArrival, name?: string): void {
    let place = this.#placeOf.get(id);
    if (place === undefined) {
      place = this.sums.push({ id, name, arrivals: 0, requests: 0, clients: 0, here: 0, reserved: 0 });
      this.#placeOf.set(id, place);
    }
    this.places.push(place);
    const sum = this.sums[place - 1];
    if (!sum) return;
    sum.arrivals++;
    if (route !== "agent") sum.requests++;
    if (route !== "async") sum.clients++;
    else if (handFree) sum.here++;
    sum.reserved += reservation;
  }
}

export interface Tally {
  users: Sums;
  keys: Sums;
  models: Sums;
}

export function tallyArrivals(arrivals: readonly PlainArrival[]): Tally {
  const tally: Tally = { users: new Sums(), keys: new Sums(), models: new Sums() };
  for (const arrival of arrivals) {
    tally.users.add(arrival.userId, arrival);
    tally.keys.add(arrival.keyId, arrival);
    tally.models.add(arrival.modelId, arrival, arrival.modelName);
  }
  return tally;
}
