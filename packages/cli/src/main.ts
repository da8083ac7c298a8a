import { readFileSync } from "node:fs";
import { commands } from "./commands.ts";

const helpOptions = ["--help", "-h"];
const helpWords = ["help", ...helpOptions];

const given = process.argv.slice(2);
// `gantry help backup` shows help; `gantry backup help` writes a file named help.
const asksForHelp = given[0] === "help" || given.some((one) => helpOptions.includes(one));
const wordsGiven = helpWords.includes(given[0] ?? "") ? given.slice(1) : given;
const command = commands.find(({ name }) => name.split(" ").every((word, n) => wordsGiven[n] === word));
const args = wordsGiven.slice(command?.name.split(" ").length);
/** The first word of two leads to the commands that begin with it. */
const family = commands.filter(({ name }) => name.startsWith(`${wordsGiven[0]} `));

if (command && asksForHelp) {
  console.log(`gantry ${command.usage}\n\n${command.meaning}`);
  if (command.codes) console.log(`Exit code ${command.codes}`);
} else if (command) {
  process.exitCode = await command.run(args);
} else if (wordsGiven[0] === "--version") {
  console.log(JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version);
} else {
  const shown = family.length > 0 ? family : commands;
  const lines = shown.map(({ usage, meaning }) => `  gantry ${usage}\n      ${meaning}`);
  const [name] = wordsGiven;
  const wanted = name === undefined || helpWords.includes(name) || (family.length > 0 && asksForHelp);
  const unknown = `Unknown command: ${wordsGiven.slice(0, family.length > 0 ? 2 : 1).join(" ")}\n\n`;
  (wanted ? console.log : console.error)(`${wanted ? "" : unknown}Usage:\n${lines.join("\n")}`);
  process.exitCode = wanted ? 0 : 2;
}
