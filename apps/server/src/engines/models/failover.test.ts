import { describe, expect, test } from "vitest";
import { fault } from "../../kernel/errors.ts";
import { NetError, type NetFailure } from "../net/net.ts";
import { failoverOf } from "./failover.ts";
import { broken, refusedContent, toFault, UpstreamFailure, UpstreamLost } from "./upstream.ts";

const answered = (status: number, body = "", headers = {}) => toFault(new UpstreamFailure({ status, body, headers }));
const lost = (reason: NetFailure) => toFault(new NetError(reason, "no answer"));
const text = { runsOnce: false };
const media = { runsOnce: true };

describe("another backend may answer", () => {
  test.each([429, 500, 501, 502, 503, 504, 529, 408])("after status %s of a text backend", (status) => {
    expect(failoverOf(answered(status), text)).toMatchObject({ reason: String(status), mayRepeat: true });
  });

  test.each(["unreachable", "cut"] as const)("after a connection that is %s", (reason) => {
    expect(failoverOf(lost(reason), text)).toMatchObject({ reason, mayRepeat: true });
  });

  test("after a stream that ended before its answer", () => {
    expect(failoverOf(broken(new UpstreamLost("cut", "ended")), text)?.reason).toBe("cut");
  });

  test("after a timeout, but the slow backend is not asked again", () => {
    expect(failoverOf(lost("timeout"), text)).toMatchObject({ reason: "timeout", mayRepeat: false });
  });

  test.each([401, 402, 403])("after %s, a credential that only this backend refuses", (status) => {
    expect(failoverOf(answered(status), text)).toMatchObject({ reason: String(status), mayRepeat: false });
  });

  test.each([429, 502, 503, 504])("after %s of a backend that makes files", (status) => {
    expect(failoverOf(answered(status), media)).toMatchObject({ reason: String(status) });
  });

  test("after a refused connection to a backend that makes files", () => {
    expect(failoverOf(lost("unreachable"), media)?.reason).toBe("unreachable");
  });

  test("while all slots of a container are taken, which is not a failure", () => {
    expect(failoverOf(answered(409), media)).toMatchObject({ isBusy: true, mayRepeat: true });
  });
});

describe("no other backend may answer", () => {
  test.each([400, 404, 409, 413, 422])("after status %s: the request would fail there too", (status) => {
    expect(failoverOf(answered(status), text)).toBeUndefined();
  });

  test.each([500, 501])("after %s of a backend that makes files: it has run", (status) => {
    expect(failoverOf(answered(status), media)).toBeUndefined();
  });

  test("after a cut connection to a backend that makes files: it may have run", () => {
    expect(failoverOf(lost("cut"), media)).toBeUndefined();
  });

  test("after refused content, whatever the status", () => {
    expect(failoverOf(refusedContent(new UpstreamFailure({ status: 500, body: "" })), text)).toBeUndefined();
    expect(failoverOf(answered(403, '{"error":{"metadata":{"flagged_input":"x"}}}'), text)).toBeUndefined();
  });

  test.each(["address_refused", "invalid_url", "too_large"] as const)("after %s", (reason) => {
    expect(failoverOf(lost(reason), text)).toBeUndefined();
  });

  test("after other failures", () => {
    for (const error of [new Error("a bug"), fault("generation_timeout", "late"), broken(new Error("not JSON"))]) {
      expect(failoverOf(error, text)).toBeUndefined();
    }
  });
});

test("the wait that the upstream asks for is passed on, and a long one ends its tries", () => {
  const short = failoverOf(answered(429, "", { "retry-after": "5" }), text);
  expect(short).toMatchObject({ retryAfterMs: 5_000, mayRepeat: true });
  const long = failoverOf(answered(429, "", { "retry-after": "60" }), text);
  expect(long).toMatchObject({ retryAfterMs: 60_000, mayRepeat: false });
});
