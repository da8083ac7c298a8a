import type { CustomFetch } from "openid-client";
import type { Net, NetRequest } from "../net/net.ts";

/** Discovery, keys, tokens and claims are a few kilobytes each. */
const maxBytes = 1_000_000;
const totalMs = 15_000;
/** The fetch standard forbids a body, even an empty one. */
const bodiless = new Set([204, 205, 304]);

/** The `fetch` of the library, through the net port. */
export function createOidcFetch(net: Pick<Net, "request">): CustomFetch {
  return async (url, { method, headers, body, signal }) => {
    const answer = await net.request({
      url,
      method: method as NonNullable<NetRequest["method"]>,
      headers: { ...headers, "user-agent": "gantry" },
      bounds: { totalMs, headersMs: totalMs, idleMs: totalMs, maxBytes },
      ...(body != null && { body: textOf(body) }),
      ...(signal && { signal }),
    });
    const received = new Headers();
    for (const [name, value] of Object.entries(answer.headers)) {
      for (const one of [value ?? []].flat()) received.append(name, one);
    }
    const bytes = await answer.body.bytes();
    const shown = { status: answer.status, headers: received };
    return new Response(bodiless.has(answer.status) ? null : Buffer.from(bytes), shown);
  };
}

function textOf(body: NonNullable<Parameters<CustomFetch>[1]["body"]>): string {
  if (typeof body === "string" || body instanceof URLSearchParams) return body.toString();
  throw new Error("unexpected body of a request to the OpenID provider");
}
