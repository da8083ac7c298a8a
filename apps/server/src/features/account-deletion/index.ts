export { startDeletions } from "./start-deletions.ts";
