import type { Command, Option } from "./command.ts";

/** Such as `gantry keys create [NAME] [options]`. */
export function usageOf({ name, arguments: all = [], options = {} }: Command): string {
  const words = all.map((argument) => {
    const shown = `${argument.name}${argument.many ? "..." : ""}`;
    return argument.optional ? `[${shown}]` : shown;
  });
  return ["gantry", name, ...words, ...(Object.keys(options).length > 0 ? ["[options]"] : [])].join(" ");
}

/** Such as `--limit COUNT`. */
export function shownOption(name: string, { type, value, short, choices }: Option): string {
  const taken = type === "flag" ? "" : ` ${value ?? choices?.join("|") ?? "VALUE"}`;
  return `${short === undefined ? "" : `-${short}, `}--${name}${taken}`;
}
