import { main } from "./set-up.mjs";

/** The console with live changes; its calls go to the server at GANTRY_URL. */
await main(() => [["vite", "apps/console", ...process.argv.slice(2)]]);
