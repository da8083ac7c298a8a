import { Readable } from "node:stream";
import { everythingOf } from "../accounts/index.ts";
import { storedFault } from "../predictions/index.ts";
import { type ClaimedBatch, type StopCode, stopReasons } from "./batch.ts";
import { renewClaim } from "./claim-store.ts";
import { type BatchesDeps, LostClaim, leaseMs } from "./context.ts";
import { findInput } from "./find-input.ts";
import { isLineError, readLine } from "./line.rules.ts";
import { type EndedLine, selectEnded } from "./line-store.ts";
import { readLines } from "./read-lines.ts";

/** Results may be large, so few are in memory. */
const pageLength = 10;
const requestPrefix = "batch_req_";

export interface Written {
  outputFileId: string | undefined;
  errorFileId: string | undefined;
  completed: number;
  failed: number;
}

/** Writes the results of a batch into files, in the order of its lines. */
export async function writeResults(
  deps: BatchesDeps,
  batch: ClaimedBatch,
  stopCode: StopCode | null,
  signal: AbortSignal,
): Promise<Written> {
  /** Lines that succeeded, but whose content was deleted. */
  const erased: number[] = [];
  const counts = { completed: 0, failed: 0 };

  async function* outputs(): AsyncGenerator<string> {
    for await (const ended of linesOf(deps, batch, { isDone: true })) {
      const answer = await answerOf(deps, batch, ended);
      if (answer === undefined) erased.push(ended.line);
      else {
        counts.completed += 1;
        yield resultLine(ended, response(200, ended.predictionId, answer), null);
      }
    }
  }

  async function* failures(): AsyncGenerator<string> {
    for await (const ended of linesOf(deps, batch, { isDone: false, also: erased })) {
      counts.failed += 1;
      yield failureLine(deps, ended, stopCode);
    }
    for await (const { line, customId } of unread(deps, batch)) {
      counts.failed += 1;
      yield resultLine({ predictionId: `pred_${line}`, customId }, null, stopError(stopCode ?? "batch_expired"));
    }
  }

  // A node that died may have left results. The claim is confirmed after they were listed, so none is of a later claim.
  const left = await deps.files.listResults(batch.userId, batch.id);
  if (!(await renewClaim(deps.database.sql, batch, leaseMs))) throw new LostClaim();
  await deps.files.deleteResults(batch.userId, left);
  const outputFileId = await storeLines(deps, batch, { what: "output", lines: outputs(), signal });
  const errorFileId = await storeLines(deps, batch, { what: "errors", lines: failures(), signal });
  return { outputFileId, errorFileId, ...counts };
}

/** Undefined without lines, which need no file. */
async function storeLines(
  { files }: BatchesDeps,
  { id, userId, keyId }: ClaimedBatch,
  { what, lines, signal }: { what: string; lines: AsyncGenerator<string>; signal: AbortSignal },
): Promise<string | undefined> {
  const first = await lines.next();
  if (first.done) return undefined;
  const body = Readable.from(
    (async function* () {
      yield Buffer.from(first.value);
      for await (const line of lines) yield Buffer.from(line);
    })(),
    { objectMode: false },
  );
  return files.storeResults({ ownerId: userId, keyId, batchId: id, filename: `${id}_${what}.jsonl`, body, signal });
}

async function* linesOf(
  { database }: BatchesDeps,
  { id }: ClaimedBatch,
  wanted: { isDone: boolean; also?: readonly number[] },
): AsyncGenerator<EndedLine> {
  for (let after = 0; ; ) {
    const page = await selectEnded(database.sql, id, { ...wanted, after, limit: pageLength });
    for (const ended of page) {
      after = ended.line;
      yield ended;
    }
    if (page.length < pageLength) return;
  }
}

/** The lines that the batch has not come to. */
async function* unread(
  { files }: BatchesDeps,
  batch: ClaimedBatch,
): AsyncGenerator<{ line: number; customId: string }> {
  const { userId, inputFileId, nextLine: line, nextByte: byte, endpoint, total } = batch;
  const file = total === 0 ? undefined : await findInput(files, everythingOf(userId), inputFileId);
  if (!file || byte >= file.size) return;
  const stream = await files.open(file, byte);
  if (!stream) return;
  for await (const found of readLines(stream, { line, byte })) {
    const read = readLine(found, endpoint);
    if (!isLineError(read)) yield { line: found.line, customId: read.customId };
  }
}

async function answerOf(
  { protocol }: BatchesDeps,
  { endpoint, userId }: ClaimedBatch,
  { predictionId, asked, output, streamDetails, createdAt }: EndedLine,
): Promise<string | undefined> {
  if (!output || !createdAt || Object.keys(output).length === 0) return undefined;
  const scope = everythingOf(userId);
  return protocol.answer({ endpoint, asked, scope, predictionId, createdAt, output, streamDetails });
}

function failureLine({ protocol }: BatchesDeps, ended: EndedLine, stopCode: StopCode | null): string {
  const { status, refusal, error, predictionId } = ended;
  if (refusal) return resultLine(ended, response(status, predictionId, JSON.stringify(refusal)), null);
  if (stopCode !== null && (status === 0 || status === 499)) return resultLine(ended, null, stopError(stopCode));
  const failure = storedFault(error);
  if (!failure) {
    const message = "The result of this request was deleted before the batch ended.";
    return resultLine(ended, null, { code: "result_deleted", message });
  }
  const { status: shown, body } = protocol.failure(failure);
  return resultLine(ended, response(shown, predictionId, JSON.stringify(body)), null);
}

function stopError(code: StopCode) {
  return { code, message: stopReasons[code] };
}

/** `body` is JSON. */
function response(status: number, requestId: string, body: string): string {
  return `{"status_code":${status},"request_id":${JSON.stringify(requestId)},"body":${body}}`;
}

function resultLine(
  { predictionId, customId }: Pick<EndedLine, "predictionId" | "customId">,
  answer: string | null,
  error: { code: string; message: string } | null,
): string {
  const id = `${requestPrefix}${predictionId.slice(predictionId.indexOf("_") + 1)}`;
  return `{"id":${JSON.stringify(id)},"custom_id":${JSON.stringify(customId)},"response":${answer},"error":${JSON.stringify(error)}}\n`;
}
