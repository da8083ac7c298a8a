import { main } from "./set-up.mjs";

await main((node) => [[node, "apps/server/src/main.ts"]]);
