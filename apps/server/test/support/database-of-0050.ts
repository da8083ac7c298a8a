import { readFile } from "node:fs/promises";
import { testDatabase } from "./database.ts";

/** Settings of the server that filled it. */
export const settingsOf0050 = {
  GANTRY_ADMIN_KEY: "admin-key-of-process-tests-0123456789",
  GANTRY_SECRET_KEY: Buffer.alloc(32, 7).toString("base64"),
};
/** Keys of its users: `limited` is bob's, with a monthly limit and two models. */
export const keysOf0050 = {
  alice: "gk_r68mm3a1ed2x_pv81v5mf2ja8p6nrz8b325waqppkgrcrfam2bk7z",
  limited: "gk_rkd1kcs0r78m_ex0057bg4pmtpnfzxnjfy7kwhz3xd1d6w47tye2k",
};

/** A used database, as the last program before the baseline left it. Call `drop` when done. */
export async function databaseOf0050(): ReturnType<typeof testDatabase> {
  const own = await testDatabase();
  await own.database.sql.unsafe("drop schema public cascade; create schema public");
  await own.database.sql.unsafe(await readFile(new URL("./database-of-0050.sql", import.meta.url), "utf8"));
  return own;
}
