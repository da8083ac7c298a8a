import type { Sql } from "../../../engines/database/database.ts";

export interface Identity {
  issuer: string;
  subject: string;
}

/** Two first sign-ins of one person at the same time must not make two users. */
export async function lockIdentity(sql: Sql, { issuer, subject }: Identity): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${JSON.stringify(["gantry.oidc", issuer, subject])}, 0))`;
}

export async function findIdentity(sql: Sql, { issuer, subject }: Identity): Promise<string | undefined> {
  const [row] = await sql<{ username: string }[]>`
    select u.username from oidc_identities i join users u on u.id = i.user_id
    where i.issuer = ${issuer} and i.subject = ${subject}`;
  return row?.username;
}

/** False if the user has another subject at the provider. */
export async function insertIdentity(
  sql: Sql,
  { issuer, subject }: Identity,
  userId: string,
  now: Date,
): Promise<boolean> {
  const { count } = await sql`
    insert into oidc_identities (issuer, subject, user_id, created_at)
    values (${issuer}, ${subject}, ${userId}, ${now})
    on conflict do nothing`;
  return count === 1;
}

/** The next sign-in may link the user again, if the settings allow it. */
export async function deleteIdentities(sql: Sql, userId: string): Promise<number> {
  const { count } = await sql`delete from oidc_identities where user_id = ${userId}`;
  return count;
}
