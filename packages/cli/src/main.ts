import { readFileSync } from "node:fs";
import { commands } from "./commands.ts";

const helpOptions = ["--help", "-h"];
const helpWords = ["help", ...helpOptions];

const given = process.argv.slice(2);
// `gantry help backup` shows help; `gantry backup help` writes a file named help.
const asksForHelp = given[0] === "help" || given.some((one) => helpOptions.includes(one));
const [name, ...args] = helpWords.includes(given[0] ?? "") ? given.slice(1) : given;
const command = commands.find((one) => one.name === name);

if (command && asksForHelp) {
  console.log(`gantry ${command.usage}\n\n${command.meaning}`);
  if (command.codes) console.log(`Exit code ${command.codes}`);
} else if (command) {
  process.exitCode = await command.run(args);
} else if (name === "--version") {
  console.log(JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version);
} else {
  const width = Math.max(...commands.map((one) => one.usage.length));
  const lines = commands.map((one) => `  gantry ${one.usage.padEnd(width)}  ${one.meaning}`);
  const wanted = name === undefined || helpWords.includes(name);
  (wanted ? console.log : console.error)(`${wanted ? "" : `Unknown command: ${name}\n\n`}Usage:\n${lines.join("\n")}`);
  process.exitCode = wanted ? 0 : 2;
}
