import type { ToolRecord } from "@gantry/wire";

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
    description: "Runs JavaScript in a sandbox without network or files and returns the value of its last expression.",
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
];

/** Throws if two tools have the same id. */
export function toolTable(connectorTools: readonly ToolInfo[]): ReadonlyMap<string, ToolInfo> {
  const table = new Map<string, ToolInfo>();
  for (const tool of [...builtinTools, ...connectorTools]) {
    if (table.has(tool.id)) throw new Error(`duplicate tool ${tool.id}`);
    table.set(tool.id, tool);
  }
  return table;
}
