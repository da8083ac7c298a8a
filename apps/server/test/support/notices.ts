import type { GantryNode } from "./gantry.ts";
import { waitFor } from "./wait-for.ts";

/** Lets the nodes search everything now, and waits until they have. */
export async function search({ database: { sql } }: Pick<GantryNode, "database">): Promise<void> {
  await sql`update notice_search set stage = 'balances', after_id = '', due_at = '-infinity'`;
  await waitFor("the search for low money", async () => {
    const rows = await sql`select 1 from notice_search where due_at > clock_timestamp()`;
    return rows.length === 1;
  });
}
