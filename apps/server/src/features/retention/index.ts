export { type Retention, type RetentionDeps, startRetention } from "./start-retention.ts";
