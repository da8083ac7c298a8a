import { commands } from "./commands.ts";
import { main } from "./frame/main.ts";

process.exitCode = await main(commands, process.argv.slice(2));
