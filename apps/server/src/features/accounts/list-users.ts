import type { AccountsContext, Page } from "./context.ts";
import { countUsers, type Range, selectUsers, type User } from "./store.ts";

/** Everyone but the owners of the built-in models, newest first. */
export async function listUsers({ database }: AccountsContext, range: Range): Promise<Page<User>> {
  const [entries, total] = await Promise.all([selectUsers(database.sql, range), countUsers(database.sql)]);
  return { entries, total };
}
