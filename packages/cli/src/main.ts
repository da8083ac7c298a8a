import { commands } from "./commands.ts";

const [name, ...args] = process.argv.slice(2);
const command = commands.find((one) => one.name === name);

const help = ["help", "--help", "-h"];

if (command && args.some((one) => help.includes(one))) {
  console.log(`gantry ${command.usage}\n\n${command.meaning}`);
} else if (command) {
  process.exitCode = await command.run(args);
} else {
  const width = Math.max(...commands.map((one) => one.usage.length));
  const lines = commands.map((one) => `  gantry ${one.usage.padEnd(width)}  ${one.meaning}`);
  const wanted = name === undefined || help.includes(name);
  (wanted ? console.log : console.error)(
    `${wanted ? "" : `gantry has no command ${name}\n\n`}Usage:\n${lines.join("\n")}`,
  );
  process.exitCode = wanted ? 0 : 2;
}
