import { GetObjectCommand, type S3Client } from "@aws-sdk/client-s3";
import { getSignedUrl, S3RequestPresigner } from "@aws-sdk/s3-request-presigner";
import type { Clock } from "../../kernel/clock.ts";
import { dispositionOf, longestMediaType } from "../../kernel/media-type.rules.ts";
import type { SignedLink } from "./blobs.ts";
import type { LinkCredentials, S3Credentials } from "./s3-credentials.ts";
import { checkLinkLength, maxExpiresSeconds } from "./signature.ts";
import { canonicalQuery, encodePath, encodeStrict } from "./uri-encoding.ts";

export interface S3Links {
  forGet(key: string, options: { expiresInSeconds: number; contentType: string }): Promise<SignedLink>;
  forPut(key: string, options: { expiresInSeconds: number }): Promise<SignedLink>;
}

/** Encoded lengths that a name must leave for the type and the session token, so that its limit rarely depends on them. */
const reserved = { type: longestMediaType * 3, typeBesideToken: 96, token: 1200 };

/**
 * Links straight to the S3 server, signed on this machine. A link signed with temporary credentials ends with them, so its
 * `X-Amz-Expires` is cut to what they have left.
 */
export async function createS3Links(
  client: S3Client,
  { bucket, credentials, clock }: { bucket: string; credentials: S3Credentials; clock: Clock },
): Promise<S3Links> {
  const place = await placeOf(client, bucket);
  let last: { identity: LinkCredentials["identity"]; presigner: S3RequestPresigner } | undefined;

  /** One for each set of credentials, so that a link is signed with those whose end it states. */
  function presignerWith(identity: LinkCredentials["identity"]): S3RequestPresigner {
    if (last?.identity !== identity) {
      last = { identity, presigner: new S3RequestPresigner({ ...client.config, credentials: identity }) };
    }
    return last.presigner;
  }

  async function sign(method: "GET" | "PUT", key: string, wantedSeconds: number, query = {}) {
    if (!Number.isInteger(wantedSeconds) || wantedSeconds < 1 || wantedSeconds > maxExpiresSeconds) {
      throw new RangeError(`a link must expire after 1 to ${maxExpiresSeconds} seconds, not ${wantedSeconds}`);
    }
    const { identity, secondsLeft } = await credentials.forLinks();
    const expiresIn = Math.max(1, Math.min(wantedSeconds, secondsLeft));
    const request = { method, ...place.host, path: place.prefix + encodePath(`/${key}`), headers: {}, query };
    const signed = await presignerWith(identity).presign(request, { expiresIn, signingDate: clock.now() });
    const { sessionToken } = identity;
    return {
      url: `${place.origin}${signed.path}?${queryOf(signed.query ?? {})}`,
      tokenLength: sessionToken === undefined ? undefined : encodeStrict(sessionToken).length,
    };
  }

  /** A longer token than the reserve makes a longer link: refusing it would cut off files that are already stored. */
  function check({ url, tokenLength }: { url: string; tokenLength: number | undefined }, type = ""): void {
    const typeLength = encodeStrict(type).length;
    if (tokenLength === undefined) checkLinkLength(url.length - typeLength + reserved.type);
    else checkLinkLength(url.length - typeLength + reserved.typeBesideToken - tokenLength + reserved.token);
  }

  return {
    async forGet(key, { expiresInSeconds, contentType }) {
      const signed = await sign("GET", key, expiresInSeconds, {
        "response-content-type": contentType,
        "response-content-disposition": dispositionOf(contentType),
      });
      check(signed, contentType);
      return { method: "GET", url: signed.url };
    },

    async forPut(key, { expiresInSeconds }) {
      const signed = await sign("PUT", key, expiresInSeconds);
      if (signed.tokenLength === undefined) checkLinkLength(signed.url.length);
      return { method: "PUT", url: signed.url };
    },
  };
}

/**
 * The rules for the host name of a bucket are those of the SDK. They are asked once: signing a command takes five times as
 * long as signing a request.
 */
async function placeOf(client: S3Client, bucket: string) {
  const probe = new URL(await getSignedUrl(client, new GetObjectCommand({ Bucket: bucket, Key: "k" })));
  const { origin, protocol, hostname, port, pathname } = probe;
  const host = { protocol, hostname, ...(port !== "" && { port: Number(port) }) };
  return { origin, host, prefix: pathname.replace(/\/k$/, "") };
}

function queryOf(query: Readonly<Record<string, unknown>>): string {
  return canonicalQuery(Object.entries(query).map(([name, value]) => [name, String(value)]));
}
