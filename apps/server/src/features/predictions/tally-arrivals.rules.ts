import type { Micros } from "../../kernel/money.ts";
import type { Route } from "./prediction.ts";

/** One with a client, to be run. */
export interface ClientArrival {
  id: string;
  userId: string;
  keyId: string;
  modelId: string;
  modelName: string;
  route: Route;
  highPriority: boolean;
  reservation: Micros;
  queueSeconds: number;
}

interface Sum {
  id: string;
  name: string | undefined;
  arrivals: number;
  reserved: Micros;
}

/** What arrivals come to by one of their owners, and which owner each has. */
class Sums {
  readonly sums: Sum[] = [];
  /** By arrival, counted from 1 as SQL does. */
  readonly places: number[] = [];
  readonly #placeOf = new Map<string, number>();

  add(id: string, { reservation }: ClientArrival, name?: string): void {
    let place = this.#placeOf.get(id);
    if (place === undefined) {
      place = this.sums.push({ id, name, arrivals: 0, reserved: 0 });
      this.#placeOf.set(id, place);
    }
    this.places.push(place);
    const sum = this.sums[place - 1];
    if (!sum) return;
    sum.arrivals++;
    sum.reserved += reservation;
  }
}

export interface Tally {
  users: Sums;
  keys: Sums;
  models: Sums;
}

export function tallyArrivals(arrivals: readonly ClientArrival[]): Tally {
  const tally: Tally = { users: new Sums(), keys: new Sums(), models: new Sums() };
  for (const arrival of arrivals) {
    tally.users.add(arrival.userId, arrival);
    tally.keys.add(arrival.keyId, arrival);
    tally.models.add(arrival.modelId, arrival, arrival.modelName);
  }
  return tally;
}
