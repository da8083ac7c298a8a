import { z } from "zod";

export const agentMemory = z
  .strictObject({
    drive: z.string().min(1).max(100).describe("One of your drives."),
    path: z
      .string()
      .min(1)
      .max(1024)
      .default("/memory.md")
      .describe("The file of the notes, created by the first note."),
  })
  .describe(
    "Notes that the agent keeps between your runs: a text file in a drive. Each run starts with the notes and can change them with the tool `update_memory`. Runs by other users, and by keys that are limited to models, have no memory.",
  );
export type AgentMemory = z.infer<typeof agentMemory>;
