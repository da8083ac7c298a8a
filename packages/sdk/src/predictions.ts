import { at, modelParams } from "./address.ts";
import { idsIn } from "./errors.ts";
import { readEvents } from "./events.ts";
import { formOf, type Input, inputForm, randomText } from "./form.ts";
import { createReplayFilter, cutShort, eventOf, isLast, unlessFailed } from "./prediction-events.ts";
import type {
  Prediction,
  PredictionResult,
  QueueMetrics,
  StreamEvent,
  UserPart,
  Webhook,
} from "./prediction-records.ts";
import { errorFrom } from "./read-error.ts";
import { lookUntil, resuming } from "./resume.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** Shorter than idle timeouts of proxies. */
const longPollSeconds = 30;

export interface Predictions {
  /**
   * Runs a model and waits for the result. Aborting or a lost connection cancels the prediction, unless it has an
   * `idempotencyKey`: then it continues, and the same call fetches it.
   */
  predict(
    model: string,
    input: Input,
    options?: CallOptions & { idempotencyKey?: string | undefined },
  ): Promise<Prediction>;
  /** Runs a model as a stream. Aborting or leaving the loop cancels the prediction; a failure is thrown. */
  stream(
    model: string,
    input: Input,
    options?: CallOptions & { user?: UserPart | undefined },
  ): AsyncGenerator<StreamEvent>;
  /**
   * Queues a prediction and returns its id. Without an `idempotencyKey` one is generated, so that a retry does not
   * queue it twice.
   */
  submit(
    model: string,
    input: Input,
    options?: CallOptions & {
      webhook?: Webhook | undefined;
      user?: UserPart | undefined;
      idempotencyKey?: string | undefined;
    },
  ): Promise<string>;
  /** The state of a prediction; `wait` waits up to 60 seconds for its end. A failure is not thrown. */
  result(
    model: string,
    predictionId: string,
    options?: CallOptions & { wait?: number | undefined },
  ): Promise<PredictionResult>;
  /**
   * Waits for the end without a limit, also across a restart of the service of up to two minutes. A failure is thrown;
   * aborting does not cancel the prediction.
   */
  waitFor(model: string, predictionId: string, options?: CallOptions): Promise<Prediction>;
  /**
   * The events of a prediction as in `stream`, from the beginning. Leaving the loop does not cancel it, and a lost
   * connection is resumed. If a queued prediction is restarted with another text, see `restarted`; `textSoFar` handles
   * it.
   */
  follow(model: string, predictionId: string, options?: CallOptions): AsyncGenerator<StreamEvent>;
  /** 499 if it was cancelled, otherwise the status with which it had ended. */
  cancel(
    model: string,
    predictionId: string,
    options?: CallOptions,
  ): Promise<{ prediction_id: string; status: number }>;
  flow(model: string, options?: CallOptions): Promise<QueueMetrics>;
}

export function predictions({ json, jsonWithHeaders, open, retries }: Transport): Predictions {
  async function look(
    model: string,
    predictionId: string,
    { wait, signal }: CallOptions & { wait?: number | undefined },
  ): Promise<Looked> {
    const { headers, body } = await jsonWithHeaders<{ inference_responses: [PredictionResult] }>({
      ...at("GET /api/v1/{owner}/{model}/predict/async/result/", modelParams(model)),
      query: { request_id: predictionId, wait },
      signal,
    });
    return { headers, result: body.inference_responses[0] };
  }

  const all: Predictions = {
    async predict(model, input, options = {}) {
      const to = at("POST /api/v1/{owner}/{model}/predict", modelParams(model));
      return json({ ...options, ...to, body: inputForm(input), answersLate: true });
    },

    async *stream(model, input, { user, signal } = {}) {
      const to = at("POST /api/v1/{owner}/{model}/predict/stream/", modelParams(model));
      const body = inputForm(input, { user });
      const { headers, lines } = await open({ ...to, body, signal });
      for await (const { data } of readEvents(lines)) {
        const event = unlessFailed(eventOf(data, headers), headers);
        yield event;
        if (isLast(event)) return;
      }
      throw cutShort(headers);
    },

    async submit(model, input, { webhook, user, signal, idempotencyKey } = {}) {
      const { prediction_id } = await json<{ prediction_id: string }>({
        ...at("POST /api/v1/{owner}/{model}/predict/async/", modelParams(model)),
        body: inputForm(input, { user, webhook }),
        idempotencyKey: idempotencyKey ?? (retries > 0 ? randomText() : undefined),
        signal,
      });
      return prediction_id;
    },

    async result(model, predictionId, options = {}) {
      return (await look(model, predictionId, options)).result;
    },

    async waitFor(model, predictionId, { signal } = {}) {
      const lookLong = () => look(model, predictionId, { wait: longPollSeconds, signal });
      const isEnd = ({ result }: Looked) => result.infer_details.status !== 202;
      return doneOrThrown(await lookUntil(lookLong, { isEnd, patient: retries > 0, signal }));
    },

    async *follow(model, predictionId, { signal } = {}) {
      const to = at("GET /api/v1/{owner}/{model}/predict/async/result/", modelParams(model));
      const query = { request_id: predictionId };
      const startOver = createReplayFilter();
      let headers = new Headers();
      async function* connect(opened: () => void): AsyncGenerator<StreamEvent> {
        const accept = { accept: "application/x-ndjson" };
        const answer = await open({ ...to, query, headers: accept, signal, retries: 0 });
        opened();
        headers = answer.headers;
        const newOf = startOver();
        for await (const line of answer.lines) {
          if (line !== "") yield* newOf(eventOf(line, answer.headers));
        }
      }
      // Thrown outside of `connect`, which would take it for a lost connection.
      const events = resuming(connect, {
        tries: retries > 0 ? undefined : 0,
        signal,
        isLast,
        cutShort: () => cutShort(headers),
      });
      for await (const event of events) yield unlessFailed(event, headers);
    },

    async cancel(model, predictionId, { signal } = {}) {
      const to = at("POST /api/v1/{owner}/{model}/predict/cancel/", modelParams(model));
      return json({ ...to, body: formOf({ prediction_id: predictionId }), signal });
    },

    async flow(model, { signal } = {}) {
      return json({ ...at("GET /api/v1/{owner}/{model}/flow", modelParams(model)), signal });
    },
  };
  return all;
}

interface Looked {
  headers: Headers;
  result: PredictionResult;
}

function doneOrThrown({ headers, result: { infer_details, response, files } }: Looked): Prediction {
  const { status, request_id, inference_time, stream_details } = infer_details;
  // The headers belong to the successful lookup, not to the failure.
  const { requestId } = idsIn(headers);
  if (status !== 200) throw errorFrom({ status, predictionId: request_id, requestId }, response);
  return {
    prediction_id: request_id,
    status,
    output_data: response,
    inference_time: inference_time ?? 0,
    files,
    ...(stream_details && { stream_details }),
  };
}
