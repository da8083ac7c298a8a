import type { IncomingHttpHeaders } from "node:http";
import { newId } from "@gantry/wire";

const presented = /^[A-Za-z0-9._-]{8,64}$/;

/** The client's own request id if it is valid, or a new one. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers["x-request-id"];
  return typeof given === "string" && presented.test(given) ? given : newId("request");
}
