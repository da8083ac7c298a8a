import { type Command, jsonOption, listOptions, serverOptions } from "../frame/command.ts";

const group = "account";
const usual = { ...jsonOption, ...serverOptions };

export const noticeCommands: readonly Command[] = [
  {
    name: "notices list",
    group,
    summary: "List notices of a low balance and of budgets that are nearly spent.",
    options: {
      status: { type: "text", meaning: "Open notices by default.", choices: ["open", "all"] },
      ...listOptions,
      ...usual,
    },
    examples: [{ line: "notices list", meaning: "See which money runs low" }],
    load: async () => (await import("./notices.ts")).listNotices,
  },
  {
    name: "notices dismiss",
    group,
    summary: "Hide a notice from your lists and your console.",
    arguments: [{ name: "ID", meaning: "The id of the notice, from notices list." }],
    options: usual,
    examples: [{ line: "notices dismiss ntc_1a2b3c", meaning: "Hide one notice" }],
    load: async () => (await import("./notices.ts")).dismissNotice,
  },
  {
    name: "notices settings",
    group,
    summary: "Show or change when you get notices, and which webhook receives them.",
    options: {
      "balance-below": {
        type: "text",
        value: "DOLLARS",
        meaning: "Balance below which you get a notice; none: no notice.",
      },
      "budget-percent": {
        type: "text",
        value: "PERCENT",
        meaning: "Share of a budget after which you get a notice; none: no notice.",
      },
      webhook: { type: "text", value: "URL", meaning: "Address that receives each notice; none: no webhook." },
      ...usual,
    },
    examples: [
      { line: "notices settings", meaning: "Show the settings" },
      { line: "notices settings --balance-below 5 --webhook https://example.com/low", meaning: "Change two of them" },
    ],
    load: async () => (await import("./notices.ts")).noticeSettings,
  },
];
