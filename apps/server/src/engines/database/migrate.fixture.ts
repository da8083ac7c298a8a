import { connect, migrate } from "./index.ts";

/** A process for tests to kill while it migrates: `node migrate.fixture.ts URL FOLDER`. */
const [url = "", dir = ""] = process.argv.slice(2);
const database = connect({ url, poolSize: 2, applicationName: "migrating" });
const report = (text: string) => void process.stdout.write(`${text}\n`);
const applied = await migrate(database, { migrations: dir, functions: dir }, { report });
process.stdout.write(`applied ${applied.join(" ")}\n`);
await database.close();
