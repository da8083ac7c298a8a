import { connect, migrate } from "./index.ts";

/** A process that migrates and does nothing else, to be killed: `node migrate.fixture.ts URL FOLDER`. */
const [url = "", dir = ""] = process.argv.slice(2);
const database = connect({ url, poolSize: 2, applicationName: "migrating" });
const tell = (text: string) => void process.stdout.write(`${text}\n`);
const applied = await migrate(database, { migrations: dir, functions: dir }, { tell });
process.stdout.write(`applied ${applied.join(" ")}\n`);
await database.close();
