import type { Answer, CallOptions, GantryUnderTest } from "./gantry.ts";

export interface Visitor {
  cookies: Map<string, string>;
  /** Sends a request as the console's pages do: with the cookies of the server and without a key. */
  call(method: string, path: string, json?: unknown, options?: CallOptions): Promise<Answer>;
  /** Follows no redirect. */
  visit(address: string): Promise<Response>;
  signIn(body: object): Promise<Answer>;
  session(): Promise<number>;
}

/** A browser without pages. */
export function newVisitor(gantry: Pick<GantryUnderTest, "url" | "call">, from?: string): Visitor {
  const cookies = new Map<string, string>();
  const cookie = () => [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const origin: Record<string, string> = from === undefined ? {} : { "x-forwarded-for": from };
  const keep = (headers: Headers) => {
    for (const set of headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (value === "") cookies.delete(name);
      else cookies.set(name, value);
    }
  };
  return {
    cookies,
    async call(method, path, json, options = {}) {
      const headers = { cookie: cookie(), "x-gantry-console": "1", ...origin, ...options.headers };
      const answer = await gantry.call(method, path, {
        ...options,
        key: "",
        ...(json !== undefined && { json }),
        headers,
      });
      keep(answer.headers);
      return answer;
    },
    async visit(address) {
      const answer = await fetch(new URL(address, gantry.url), {
        redirect: "manual",
        headers: { cookie: cookie(), ...origin },
      });
      keep(answer.headers);
      await answer.body?.cancel();
      return answer;
    },
    async signIn(body) {
      return this.call("POST", "/console/api/session", body);
    },
    async session() {
      return (await this.call("GET", "/console/api/session")).status;
    },
  };
}

/** Actions in the audit log about a user, in their order. */
export async function actionsOf({ database }: Pick<GantryUnderTest, "database">, username: string): Promise<string[]> {
  const rows = await database.sql<{ action: string }[]>`
    select action from audit_records where entry -> 'owner' ->> 'username' = ${username} order by seq`;
  return rows.map(({ action }) => action);
}
