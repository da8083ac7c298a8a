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

/** Below what proxies allow a silent connection. */
const longPollSeconds = 30;

export interface Predictions {
  /**
   * Runs a model and waits for the result, as long as the model may take. Aborting cancels the run, and so does a line
   * that breaks, unless it has an `idempotencyKey`: then it goes on, and the same call again fetches it.
   */
  predict(
    model: string,
    input: Input,
    options?: CallOptions & { idempotencyKey?: string | undefined },
  ): Promise<Prediction>;
  /** Runs a model as a stream. Aborting, or leaving the loop, cancels the run; its failure is thrown. */
  stream(
    model: string,
    input: Input,
    options?: CallOptions & { user?: UserPart | undefined },
  ): AsyncGenerator<StreamEvent>;
  /** Queues a run and answers its id. Without an `idempotencyKey` it gets one, so that a lost answer loses no run. */
  submit(
    model: string,
    input: Input,
    options?: CallOptions & {
      webhook?: Webhook | undefined;
      user?: UserPart | undefined;
      idempotencyKey?: string | undefined;
    },
  ): Promise<string>;
  /** How a prediction stands; `wait` holds the answer up to 60 seconds until it has ended. A failure is not thrown. */
  result(
    model: string,
    predictionId: string,
    options?: CallOptions & { wait?: number | undefined },
  ): Promise<PredictionResult>;
  /**
   * Waits for the end, however long that takes, and over a restart of the service: one that is away for more than two
   * minutes is given up. A failure is thrown; aborting stops the waiting, not the run.
   */
  waitFor(model: string, predictionId: string, options?: CallOptions): Promise<Prediction>;
  /**
   * The events of a run as `stream` gives them, from its beginning. Leaving stops nothing; a break is bridged. A queued run
   * that was begun again and says another text is told anew, see `restarted`: `textSoFar` heeds it.
   */
  follow(model: string, predictionId: string, options?: CallOptions): AsyncGenerator<StreamEvent>;
  /** 499 when it was cancelled, else the status with which it had already ended. */
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
      // A failure of the prediction is thrown out here, where it is not taken for one of the connection.
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
  // The headers are those of a look that went well; of the failure they tell nothing but who asked.
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
