import type { Route, State } from "./core-world.fixture.ts";

/** Named as in PostgreSQL. Null if empty. */
export interface Rows {
  users:
    | { user_id: string; balance_micros: number; reserved_micros: number; running: number; waiting: number }[]
    | null;
  months: { key_id: string; month: string; spent_micros: number; reserved_micros: number }[] | null;
  days: { key_id: string; day: string; spent_micros: number; reserved_micros: number }[] | null;
  tokens: Record<string, number> | null;
  models: { id: string; running: number; waiting: number }[] | null;
  live:
    | {
        id: string;
        user_id: string;
        key_id: string | null;
        model_id: string;
        route: Route;
        high_priority: boolean;
        holder: string | null;
        claim: number;
        deaths: number;
        reserved_micros: number;
        started: boolean;
      }[]
    | null;
  ended:
    | {
        id: string;
        user_id: string;
        key_id: string | null;
        route: Route;
        status: number;
        reserved_micros: number;
        price_micros: number;
        started: boolean;
        agree: boolean;
      }[]
    | null;
}

export function stateOfRows(
  { users, months, days, tokens, models, live, ended }: Rows,
  out: (id: string) => string,
): State {
  const state: State = { users: {}, months: {}, days: {}, tokens: {}, models: {}, live: {}, ended: {} };
  for (const one of users ?? [])
    state.users[out(one.user_id)] = {
      ...{ balance: one.balance_micros, reserved: one.reserved_micros, running: one.running, waiting: one.waiting },
    };
  for (const { key_id, month, spent_micros, reserved_micros } of months ?? [])
    state.months[`${out(key_id)} ${month}`] = { spent: spent_micros, reserved: reserved_micros };
  for (const { key_id, day, spent_micros, reserved_micros } of days ?? [])
    state.days[`${out(key_id)} ${day}`] = { spent: spent_micros, reserved: reserved_micros };
  for (const [key, found] of Object.entries(tokens ?? {})) state.tokens[out(key)] = found;
  for (const { id, running, waiting } of models ?? []) state.models[out(id)] = { running, waiting };
  for (const one of live ?? []) {
    const { route, holder, claim, deaths, started } = one;
    state.live[out(one.id)] = {
      ...{ user: out(one.user_id), key: one.key_id && out(one.key_id), model: out(one.model_id), route },
      ...{ highPriority: one.high_priority, holder, claim, deaths, reserved: one.reserved_micros, started },
    };
  }
  for (const one of ended ?? []) {
    if (!one.agree) throw new Error(`the usage row of ${one.id} is missing or differs`);
    const { route, status, reserved_micros: reserved, price_micros: price, started } = one;
    state.ended[out(one.id)] = {
      ...{ user: out(one.user_id), key: one.key_id && out(one.key_id), route, status, reserved, price, started },
    };
  }
  return state;
}
