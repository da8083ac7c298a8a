import type { GantryClient, ToolServerAuth, ToolServerRecord } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";
import { exitCodes, Failure, wrongArguments } from "../frame/failure.ts";
import { printList } from "../frame/list.ts";
import { printDeleted } from "../shared/print-deleted.ts";
import { confirmDeletion } from "../shared/questions.ts";
import { readSecret } from "../shared/read-secret.ts";

export async function listServers(context: Context): Promise<number> {
  const client = await context.client();
  return printList(
    context,
    client.toolServers.each(),
    [
      { title: "server", value: ({ name }) => name },
      { title: "id", value: ({ id }) => id },
      { title: "status", value: ({ status }) => status.replace("_", " ") },
      { title: "address", value: ({ url }) => url },
      { title: "error", value: ({ last_error }) => last_error },
    ],
    "You have no tool servers. Connect one with: gantry tool-servers connect NAME ADDRESS",
  );
}

export async function connectServer(context: Context): Promise<number> {
  const { out } = context;
  const [name = "", url = ""] = context.words;
  const auth = await readAuth(context);
  const client = await context.client();
  const connection_type = context.flag("sse") ? "sse" : "streamable_http";
  const server = await client.toolServers.create({ name, url, connection_type, ...(auth && { auth }) });
  if (context.flag("json")) out.json(server);
  else {
    out.details([
      ["Server", server.name],
      ["Id", server.id],
      ["Status", server.status.replace("_", " ")],
      ["Error", server.last_error],
    ]);
  }
  if (server.status === "authorization_required") {
    out.note(`Authorize Gantry with: gantry tool-servers authorize ${server.name}`);
    return exitCodes.done;
  }
  if (server.status === "connected") return exitCodes.done;
  out.note(`The server is saved, but did not respond as expected. Try: gantry tool-servers tools ${server.name}`);
  return exitCodes.failed;
}

async function readAuth(context: Context): Promise<ToolServerAuth | undefined> {
  const type = context.text("auth");
  if (type === undefined) return undefined;
  if (type === "oauth") return { type };
  const secret = await readSecret(context, "token", type === "bearer" ? "Token" : "API key");
  if (secret === undefined) throw wrongArguments("Give the credential with --token-env VARIABLE or --token-stdin.");
  if (type === "bearer") return { type, token: secret };
  return { type: "api_key", header: context.text("header") ?? "X-API-Key", value: secret };
}

export async function authorizeServer(context: Context): Promise<number> {
  const { out } = context;
  const client = await context.client();
  const authorization = await client.toolServers.authorize((await findServer(context, client)).id);
  if (context.flag("json")) out.json(authorization);
  else {
    out.line(authorization.authorization_url);
    out.note("Open the link in a browser. It works once, for ten minutes.");
  }
  return exitCodes.done;
}

export async function listTools(context: Context): Promise<number> {
  const { out } = context;
  const client = await context.client();
  const server = await findServer(context, client);
  const tools = await client.toolServers.tools(server.id);
  if (context.flag("json")) out.json(tools);
  else {
    out.table(
      [
        { title: "tool", value: ({ name }) => `${server.name}__${name}` },
        { title: "description", value: ({ description }) => description },
      ],
      tools,
      "The server has no tools.",
    );
  }
  return exitCodes.done;
}

export async function deleteServer(context: Context): Promise<number> {
  const client = await context.client();
  const { id, name } = await findServer(context, client);
  if (!(await confirmDeletion(context, `the tool server ${name}`))) return exitCodes.failed;
  await client.toolServers.delete(id, { force: context.flag("force") });
  return printDeleted(context, id);
}

/** By id or by name, which is unique. */
async function findServer({ words }: Context, client: GantryClient): Promise<ToolServerRecord> {
  const [text = ""] = words;
  for await (const server of client.toolServers.each()) if (server.id === text || server.name === text) return server;
  throw new Failure(`The tool server ${text} does not exist. gantry tool-servers list shows your servers.`);
}
