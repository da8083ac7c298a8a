export { type ConnectOptions, connect } from "./connect.ts";
export type { Database, OpenedDatabase, Sql, Transaction, TransactionOptions, Trouble } from "./database.ts";
export { type EmbeddedDatabase, type EmbeddedOptions, startEmbeddedDatabase } from "./embedded.ts";
export { connectExternalDatabase, type ExternalOptions } from "./external.ts";
export { applyFunctions } from "./functions.ts";
export { migrate } from "./migrate.ts";
