import { expect } from "vitest";
import type { Answer, CallOptions, GantryNode } from "../../support/gantry.ts";

export interface TeamCalls {
  /** Calls with a person's own key, for a team if one is named. */
  as(key: string, team?: string): Calls;
  /** A team of this owner, with credit. */
  newTeam(name: string, owner: string, credit?: number): Promise<void>;
  add(team: string, username: string, more?: object): Promise<void>;
}

export interface Calls {
  get(path: string): Promise<Answer>;
  send(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Expects success. */
  made(method: string, path: string, options?: CallOptions): Promise<Answer>;
}

export function teamCalls(gantry: GantryNode): TeamCalls {
  const success = (answer: Answer) => {
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer;
  };
  return {
    as(key, team) {
      const send = (method: string, path: string, options: CallOptions = {}) =>
        gantry.call(method, path, {
          ...options,
          key,
          headers: { ...options.headers, ...(team !== undefined && { "x-gantry-team": team }) },
        });
      return {
        get: (path) => send("GET", path),
        send,
        made: async (...call) => success(await send(...call)),
      };
    },
    async newTeam(name, owner, credit = 10) {
      success(await gantry.call("POST", "/api/v2/teams", { json: { name, owner } }));
      const path = `/api/v2/admin/users/${name}`;
      success(await gantry.call("PATCH", path, { json: { plan: "unlimited" } }));
      if (credit > 0) {
        success(await gantry.call("POST", `${path}/credits`, { json: { amount: credit, reason: "test" } }));
      }
    },
    async add(team, username, more = {}) {
      success(await gantry.call("POST", `/api/v2/teams/${team}/members`, { json: { username, ...more } }));
    },
  };
}

export function messageOf({ body, text }: Answer): string {
  const message = body?.detail ?? body?.error?.message;
  return typeof message === "string" ? message : text;
}
