import type { FastifyReply, FastifyRequest } from "fastify";
import {
  type DriveFile,
  nameOf,
  type OpenedFile,
  type Precondition,
  type Wanted,
} from "../../features/drives/index.ts";
import { fault } from "../../kernel/errors.ts";
import { chooseRange, etagMatches } from "../blob-api/byte-range.rules.ts";
import { contentHeaders } from "../blob-api/disposition.rules.ts";

/** Answers GET and HEAD with a file, or a part of it. `open` looks the file up and opens what is chosen of it. */
export async function sendDriveFile(
  request: FastifyRequest,
  reply: FastifyReply,
  open: (choose: (file: DriveFile) => Wanted) => Promise<OpenedFile>,
): Promise<FastifyReply> {
  const { file, body } = await open((candidate) => planFor(request, candidate).wanted);
  const { answer, start, end } = planFor(request, file);
  if (answer === "past-the-end") {
    const message = "The range lies past the end of the file";
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
  /** The bytes that the answer is about, both inclusive. */
  start: number;
  end: number;
}

function planFor(request: FastifyRequest, file: DriveFile): Plan {
  const etag = `"${file.etag}"`;
  const whole = { start: 0, end: file.size - 1 };
  requireMatch(request, file.etag);
  if (etagMatches(request.headers["if-none-match"], etag)) return { answer: "unchanged", wanted: "nothing", ...whole };
  // A part is only asked of the version the client already has.
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
    // The file can be replaced at any time, so a copy is to be checked before it is used again.
    "cache-control": "private, no-cache",
    ...contentHeaders(file.contentType, nameOf(file.path)),
    // No page of another site can send the key; none may embed what a browser has cached either.
    "cross-origin-resource-policy": "same-origin",
  });
}

type Conditional = Pick<FastifyRequest, "headers">;

/** What If-Match and If-None-Match of a write demand of the version that it meets (RFC 9110, 13.1). */
export function preconditionOf({ headers }: Conditional): Precondition {
  return (standing) => {
    requireMatch({ headers }, standing);
    if (standing !== undefined && etagMatches(headers["if-none-match"], `"${standing}"`)) {
      throw failed("If-None-Match", "A version stands there that If-None-Match excludes");
    }
  };
}

/** The half of it that holds for reading too; there If-None-Match asks for an answer of its own. */
export function requireMatch({ headers }: Conditional, standing: string | undefined): void {
  const wanted = headers["if-match"];
  if (wanted === undefined) return;
  if (standing === undefined) throw failed("If-Match", "If-Match asks for a version, and no file stands there");
  const isNamed = wanted.trim() === "*" || wanted.split(",").some((one) => one.trim() === `"${standing}"`);
  if (!isNamed) throw failed("If-Match", "The version that stands there is none that If-Match names");
}

function failed(header: string, msg: string) {
  return fault("precondition_failed", msg, { loc: ["header", header] });
}
