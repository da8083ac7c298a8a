import type { IncomingHttpHeaders } from "node:http";
import { newId } from "@gantry/wire";

const presented = /^[A-Za-z0-9._-]{8,64}$/;

/** The id that a request is answered with: the client's own, where it gave one that can be one. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers["x-request-id"];
  return typeof given === "string" && presented.test(given) ? given : newId("request");
}
