import type { ToolRecord } from "@gantry/wire";
import { searchProviders } from "./search-providers.ts";

/** Description of a tool for agents. Runs implement the tools. */
export type ToolInfo = ToolRecord;

const text = (description: string) => ({ type: "string", description });

const parameters = (properties: Record<string, unknown>, required: readonly string[]) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

const driveId = text("The drive. Default: the agent's first drive.");
const filePath = text("An absolute path within the drive, such as /notes/today.md.");

export const builtinTools: readonly ToolInfo[] = [
  {
    id: "http_request",
    description: "Sends one HTTP request to a public address and returns its status, headers and body.",
    kind: "write",
    parameters: parameters(
      {
        method: { type: "string", enum: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"], description: "The method." },
        url: text("An http or https address."),
        headers: { type: "object", additionalProperties: { type: "string" }, description: "Request headers by name." },
        body: text("The request body."),
      },
      ["method", "url"],
    ),
  },
  {
    id: "web_fetch",
    description:
      "Reads a public web page as Markdown: title, address and main text. Plain text, JSON, PDF and Word files are read too.",
    kind: "read",
    parameters: parameters(
      {
        url: text("An http or https address."),
        start: {
          type: "integer",
          minimum: 0,
          default: 0,
          description: "Where to start in the text, in characters: the result says where it continues.",
        },
      },
      ["url"],
    ),
  },
  {
    id: "web_search",
    description: "Searches the web and returns titles, addresses and excerpts of pages.",
    kind: "read",
    parameters: parameters(
      {
        query: { type: "string", minLength: 1, maxLength: 400, description: "What to search for." },
        count: { type: "integer", minimum: 1, maximum: 20, default: 5, description: "How many results." },
      },
      ["query"],
    ),
    settings: {
      type: "object",
      properties: {
        provider: {
          type: "string",
          enum: searchProviders,
          description: "Default: searxng, at the operator's address or at `url`.",
        },
        secret: text("For brave and tavily: the name of your stored secret with the API key."),
        url: text("For searxng: the address of a SearXNG server that allows JSON results."),
      },
    },
  },
  {
    id: "run_model",
    description: "Runs another model once and returns its output.",
    kind: "read",
    parameters: parameters(
      {
        model: text("The model: its endpoint id, as owner/name, or an alias."),
        input: { type: "object", description: "The fields of the model's input by name." },
      },
      ["model", "input"],
    ),
  },
  {
    id: "run_javascript",
    description: "Runs JavaScript in a sandbox without network and returns the value of its last expression.",
    kind: "read",
    parameters: parameters({ code: text("The program.") }, ["code"]),
  },
  {
    id: "drive_list",
    description: "Lists the files and directories at a path of a drive.",
    kind: "read",
    parameters: parameters({ drive_id: driveId, path: { ...filePath, default: "/" } }, []),
  },
  {
    id: "drive_read",
    description: "Reads a text file of a drive.",
    kind: "read",
    parameters: parameters({ drive_id: driveId, path: filePath }, ["path"]),
  },
  {
    id: "drive_search",
    description:
      "Searches the text of the indexed files of a drive by words and by meaning. Returns the best passages, each with its file, page and lines to cite.",
    kind: "read",
    parameters: parameters(
      {
        drive_id: driveId,
        query: { ...text("Words or a question."), minLength: 1, maxLength: 1000 },
        limit: { type: "integer", minimum: 1, maximum: 20, description: "Maximum number of passages. Default: 8." },
      },
      ["query"],
    ),
  },
  {
    id: "drive_write",
    description: "Writes a text file to a drive and replaces an existing one.",
    kind: "write",
    parameters: parameters({ drive_id: driveId, path: filePath, content: text("The whole content of the file.") }, [
      "path",
      "content",
    ]),
  },
  {
    id: "drive_delete",
    description: "Deletes a file of a drive.",
    kind: "write",
    parameters: parameters({ drive_id: driveId, path: filePath }, ["path"]),
  },
  {
    id: "update_memory",
    description:
      "Changes the notes that you keep between runs. Without `old`, adds a line. With `old`, replaces that text in the notes; an empty `new` deletes it.",
    kind: "write",
    parameters: parameters(
      {
        new: { type: "string", maxLength: 16_384, description: "The note to add, or the text instead of `old`." },
        old: { type: "string", maxLength: 16_384, description: "A text of the notes that occurs once, exactly." },
      },
      ["new"],
    ),
  },
];

/** Offered to every agent with a memory, bound or not. */
export const memoryTool = "update_memory";

/** Throws if two tools have the same id. */
export function toolTable(connectorTools: readonly ToolInfo[]): ReadonlyMap<string, ToolInfo> {
  const table = new Map<string, ToolInfo>();
  for (const tool of [...builtinTools, ...connectorTools]) {
    if (table.has(tool.id)) throw new Error(`duplicate tool ${tool.id}`);
    table.set(tool.id, tool);
  }
  return table;
}
