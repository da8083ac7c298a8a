export { type ConnectOptions, connect, connectionsOfProcess, connectOwn, type OwnDatabase } from "./connect.ts";
export type { Database, OpenedDatabase, Sql, Transaction, TransactionOptions, Trouble } from "./database.ts";
export { type EmbeddedDatabase, type EmbeddedOptions, startEmbeddedDatabase } from "./embedded.ts";
export { connectExternalDatabase, type ExternalOptions } from "./external.ts";
export { migrate, type SchemaFiles } from "./migrate.ts";
