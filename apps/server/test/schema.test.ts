import { expect, test } from "vitest";
import { testDatabase } from "./support/database.ts";
import { schemaText } from "./support/schema-text.ts";

/** After changing migrations or functions, update the file: `npm test -- apps/server/test/schema.test.ts -u`. */
test("migrations and functions create the schema that schema.txt shows", async () => {
  const { database, drop } = await testDatabase();
  try {
    await expect(await schemaText(database.sql)).toMatchFileSnapshot("../migrations/schema.txt");
  } finally {
    await drop();
  }
});
