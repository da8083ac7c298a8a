import type { FastifyReply, FastifyRequest } from "fastify";
import {
  type DriveFile,
  nameOf,
  type OpenedFile,
  type Precondition,
  type Wanted,
} from "../../features/drives/index.ts";
import { fault } from "../../kernel/errors.ts";
import { chooseRange, etagMatches } from "../blob-api/conditions.rules.ts";
import { contentHeaders } from "../blob-api/disposition.rules.ts";

/** Answers GET and HEAD with a file or a range of it. */
export async function sendDriveFile(
  request: FastifyRequest,
  reply: FastifyReply,
  open: (choose: (file: DriveFile) => Wanted) => Promise<OpenedFile>,
): Promise<FastifyReply> {
  const { file, body } = await open((candidate) => planFor(request, candidate).wanted);
  const { answer, start, end } = planFor(request, file);
  if (answer === "past-the-end") {
    const message = "The range is past the end of the file";
    reply.code(416).header("content-range", `bytes */${file.size}`).header("x-service-retryable", "false");
    return reply.send({ error: { type: "invalid_input", code: "invalid_input", message } });
  }
  describe(reply, file);
  if (answer === "unchanged") return reply.code(304).removeHeader("content-type").send();
  reply.header("content-length", end - start + 1);
  if (answer === "part") reply.code(206).header("content-range", `bytes ${start}-${end}/${file.size}`);
  return reply.send(body);
}

interface Plan {
  answer: "whole" | "part" | "unchanged" | "past-the-end";
  wanted: Wanted;
  /** The bytes of the answer, both inclusive. */
  start: number;
  end: number;
}

function planFor(request: FastifyRequest, file: DriveFile): Plan {
  const etag = `"${file.etag}"`;
  const whole = { start: 0, end: file.size - 1 };
  requireMatch(request, file.etag);
  if (etagMatches(request.headers["if-none-match"], etag)) return { answer: "unchanged", wanted: "nothing", ...whole };
  // A range applies only to the version that the client already has.
  const condition = request.headers["if-range"];
  const header = condition === undefined || condition === etag ? request.headers.range : undefined;
  const range = chooseRange(header, file.size);
  if (range.kind === "unsatisfiable") return { answer: "past-the-end", wanted: "nothing", ...whole };
  const bytes = range.kind === "part" ? { start: range.start, end: range.end } : whole;
  const needsBody = request.method !== "HEAD" && file.size > 0;
  return { answer: range.kind, wanted: needsBody ? bytes : "nothing", ...bytes };
}

function describe(reply: FastifyReply, file: DriveFile): void {
  reply.headers({
    etag: `"${file.etag}"`,
    "last-modified": file.updatedAt.toUTCString(),
    "accept-ranges": "bytes",
    // The file can be replaced at any time, so clients must revalidate copies.
    "cache-control": "private, no-cache",
    ...contentHeaders(file.contentType, nameOf(file.path)),
    // Pages of other sites cannot send the key, and must not embed what a browser has cached.
    "cross-origin-resource-policy": "same-origin",
  });
}

type Conditional = Pick<FastifyRequest, "headers">;

/** Preconditions of a write (RFC 9110, 13.1). */
export function preconditionOf({ headers }: Conditional): Precondition {
  return (current) => {
    requireMatch({ headers }, current);
    if (current !== undefined && etagMatches(headers["if-none-match"], `"${current}"`)) {
      throw failed("If-None-Match", "The current version matches If-None-Match");
    }
  };
}

/** If-Match applies to reads too; for reads If-None-Match answers 304. */
export function requireMatch({ headers }: Conditional, current: string | undefined): void {
  const wanted = headers["if-match"];
  if (wanted === undefined) return;
  if (current === undefined) throw failed("If-Match", "If-Match names a version, but the file does not exist");
  const isNamed = wanted.trim() === "*" || wanted.split(",").some((one) => one.trim() === `"${current}"`);
  if (!isNamed) throw failed("If-Match", "The current version does not match If-Match");
}

function failed(header: string, msg: string) {
  return fault("precondition_failed", msg, { loc: ["header", header] });
}
