import type {
  ChangeToolServerBody,
  ConnectionType,
  CreateToolServerBody,
  ToolServerAuth,
  ToolServerRecord,
} from "@gantry/sdk";

/** `keep`: use the stored credentials. */
export type AuthChoice = "keep" | "none" | "bearer" | "api_key" | "oauth";

export interface ServerFormValues {
  name: string;
  url: string;
  connectionType: ConnectionType;
  auth: AuthChoice;
  token: string;
  header: string;
  value: string;
  clientId: string;
  clientSecret: string;
  scope: string;
}

export function initialValues(server: ToolServerRecord | undefined): ServerFormValues {
  return {
    name: server?.name ?? "",
    url: server?.url ?? "",
    connectionType: server?.connection_type ?? "streamable_http",
    auth: server?.auth ? "keep" : "none",
    token: "",
    header: server?.auth?.type === "api_key" ? server.auth.header : "",
    value: "",
    clientId: server?.auth?.type === "oauth" ? (server.auth.client_id ?? "") : "",
    clientSecret: "",
    scope: server?.auth?.type === "oauth" ? (server.auth.scope ?? "") : "",
  };
}

/** Undefined: unchanged. */
function authOf({ auth, token, header, value, ...oauth }: ServerFormValues): ToolServerAuth | null | undefined {
  if (auth === "keep") return undefined;
  if (auth === "none") return null;
  if (auth === "oauth") return oauthOf(oauth);
  return auth === "bearer"
    ? { type: "bearer", token: token.trim() }
    : { type: "api_key", header: header.trim(), value: value.trim() };
}

function oauthOf(given: Pick<ServerFormValues, "clientId" | "clientSecret" | "scope">): ToolServerAuth {
  const [clientId, secret, scope] = [given.clientId.trim(), given.clientSecret.trim(), given.scope.trim()];
  return {
    type: "oauth",
    ...(clientId !== "" && { client_id: clientId }),
    ...(secret !== "" && { client_secret: secret }),
    ...(scope !== "" && { scope }),
  };
}

export function newServer(values: ServerFormValues): CreateToolServerBody {
  const auth = authOf(values);
  return {
    name: values.name.trim(),
    url: values.url.trim(),
    connection_type: values.connectionType,
    ...(auth && { auth }),
  };
}

/** Undefined: no changes. */
export function changeOf(server: ToolServerRecord, values: ServerFormValues): ChangeToolServerBody | undefined {
  const auth = authOf(values);
  const change: ChangeToolServerBody = {
    ...(values.name.trim() !== server.name && { name: values.name.trim() }),
    ...(values.url.trim() !== server.url && { url: values.url.trim() }),
    ...(values.connectionType !== server.connection_type && { connection_type: values.connectionType }),
    ...(auth !== undefined && !(auth === null && server.auth === null) && { auth }),
  };
  return Object.keys(change).length === 0 ? undefined : change;
}
