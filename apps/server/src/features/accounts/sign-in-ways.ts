import type { SignInWay } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import { fault } from "../../kernel/errors.ts";
import type { AccountsContext } from "./context.ts";

const nameOf: Readonly<Record<SignInWay, string>> = {
  link: "with a link",
  key: "with an API key",
  password: "with a password",
  oidc: "with single sign-on",
};

export function requireWay({ signIn }: Pick<AccountsContext, "signIn">, way: SignInWay): void {
  if (signIn.ways.has(way)) return;
  throw fault("forbidden", `Signing in ${nameOf[way]} is not enabled on this server. The setting is GANTRY_SIGN_IN.`);
}

export interface ShownWays {
  ways: SignInWay[];
  /** Name of the OpenID provider, for its button. */
  provider: string | null;
  minPasswordLength: number;
}

/** What the sign-in page offers. */
export async function readSignInWays({ database, signIn }: AccountsContext): Promise<ShownWays> {
  const hidden = signIn.hidesUnusedPasswords && !(await anyPassword(database.sql));
  return {
    ways: [...signIn.ways].filter((way) => way !== "password" || !hidden),
    provider: signIn.oidc?.rules.name ?? null,
    minPasswordLength: signIn.minPasswordLength,
  };
}

async function anyPassword(sql: Sql): Promise<boolean> {
  const rows = await sql`select 1 from users where password_hash is not null limit 1`;
  return rows.length > 0;
}

/** The one condition for opening a session of a user, as SQL over `users`. */
export const maySignIn = (sql: Sql) =>
  sql`users.disabled_at is null and users.role <> 'system' and users.kind = 'person'`;
