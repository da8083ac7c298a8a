export { everyEntry } from "./every-entry.ts";
export { type Exports, openExports } from "./open-exports.ts";
export type { ExportPart, ExportSubject } from "./part.ts";
export { unlessGone } from "./unless-gone.ts";
