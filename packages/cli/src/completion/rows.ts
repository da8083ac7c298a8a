import type { Command } from "../frame/command.ts";

/** The command that completes needs all rows, itself included. */
export function completionCommands(commands: () => readonly Command[]): readonly Command[] {
  return [
    {
      name: "completion",
      group: "help",
      summary: "Print a script that completes commands, options and values in your shell.",
      details: "Models, keys, agents, runs and drives are completed from the server that you have logged in to.",
      arguments: [{ name: "SHELL", meaning: "bash, zsh or fish.", choices: ["bash", "zsh", "fish"] }],
      examples: [
        { line: "completion bash >> ~/.bashrc", meaning: "Bash" },
        { line: "completion zsh >> ~/.zshrc", meaning: "Zsh, after compinit" },
        { line: "completion fish > ~/.config/fish/completions/gantry.fish", meaning: "Fish" },
      ],
      load: async () => (await import("./scripts.ts")).printScript,
    },
    {
      name: "__complete",
      group: "help",
      summary: "Answer a shell.",
      hidden: true,
      arguments: [{ name: "WORD", meaning: "Words typed so far.", optional: true, many: true }],
      options: { line: { type: "text", value: "LINE", meaning: "The line typed so far, instead of words." } },
      examples: [],
      load: async () => (await import("./complete.ts")).completer(commands()),
    },
  ];
}
