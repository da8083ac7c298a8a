import { type Command, jsonOption, serverOptions } from "../frame/command.ts";

export const chatCommands: readonly Command[] = [
  {
    name: "chat",
    group: "models",
    summary: "Talk to a text model or an agent.",
    details:
      "Without a message, asks for messages until you press Ctrl+D. Ctrl+C stops an answer. A conversation with an agent " +
      "is a thread, and tools that need an approval ask for it. A message as an argument, or on stdin, gets one answer.",
    arguments: [
      {
        name: "MODEL|AGENT",
        meaning: "A model as owner/model, or an agent by id, slug, name or creator/slug.",
        completes: "models",
      },
      { name: "MESSAGE", meaning: "One message; without it, asks for messages.", optional: true },
    ],
    options: {
      system: { type: "text", value: "TEXT", meaning: "Instructions for a model: role, tone, rules." },
      thread: { type: "text", value: "ID", meaning: "Continue a conversation with an agent.", completes: "threads" },
      ...serverOptions,
      ...jsonOption,
    },
    examples: [
      { line: "chat gantry/text", meaning: "Start a conversation" },
      { line: 'chat gantry/text "What is 6 * 7?" --system "Answer with a number."', meaning: "Ask once" },
      { line: "chat clerk --thread ticket-7", meaning: "Continue a conversation with an agent" },
    ],
    codes: { 4: "An agent waits for an approval, and the command cannot ask you.", 130: "Interrupted." },
    load: async () => (await import("./chat.ts")).chat,
  },
];
