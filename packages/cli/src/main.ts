import { readFileSync } from "node:fs";
import { commands } from "./commands.ts";

const help = ["help", "--help", "-h"];

const given = process.argv.slice(2);
// `gantry help backup` is `gantry backup --help`.
const [name, ...args] = help.includes(given[0] ?? "") ? given.slice(1) : given;
const command = commands.find((one) => one.name === name);

if (command && given.some((one) => help.includes(one))) {
  console.log(`gantry ${command.usage}\n\n${command.meaning}`);
} else if (command) {
  process.exitCode = await command.run(args);
} else if (name === "--version") {
  console.log(JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version);
} else {
  const width = Math.max(...commands.map((one) => one.usage.length));
  const lines = commands.map((one) => `  gantry ${one.usage.padEnd(width)}  ${one.meaning}`);
  const wanted = name === undefined || help.includes(name);
  (wanted ? console.log : console.error)(
    `${wanted ? "" : `gantry has no command ${name}\n\n`}Usage:\n${lines.join("\n")}`,
  );
  process.exitCode = wanted ? 0 : 2;
}
