import type { IncomingHttpHeaders } from "node:http";

interface Credentials {
  id: string | undefined;
  secret: string | undefined;
}

/** From `Authorization: Basic`, or from the form. */
export function clientCredentials({ authorization }: IncomingHttpHeaders, form: URLSearchParams): Credentials {
  const basic = /^basic\s+([\w+/=-]+)$/i.exec(authorization?.trim() ?? "")?.[1];
  if (basic === undefined)
    return { id: form.get("client_id") ?? undefined, secret: form.get("client_secret") ?? undefined };
  const [id = "", secret = ""] = Buffer.from(basic, "base64").toString("utf8").split(/:(.*)/s).map(decoded);
  return { id, secret };
}

/** Both parts are encoded as in a form (RFC 6749, 2.3.1). */
function decoded(part: string): string {
  return new URLSearchParams(`part=${part.replaceAll("&", "%26")}`).get("part") ?? "";
}
