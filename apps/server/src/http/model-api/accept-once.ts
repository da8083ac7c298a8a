import type { FastifyRequest } from "fastify";
import { type Caller, scopeOf } from "../../features/accounts/index.ts";
import type { Model } from "../../features/models/index.ts";
import {
  checkIdempotencyKey,
  countWrongInput,
  type IdempotentStart,
  isIdempotencyKey,
  KeyTakenOver,
  type Predictions,
  type PresentedKey,
  type ReceivedForm,
} from "../../features/predictions/index.ts";
import { fault } from "../../kernel/errors.ts";
import { type AcceptedInput, acceptInput, extrasOf, formOf, hasLongBody, unlessChanged } from "./accept-input.ts";
import type { ModelApiDeps, OfModel } from "./deps.ts";

interface Asking {
  presented: PresentedKey;
  caller: Caller;
  route: "sync" | "async";
  signal: AbortSignal;
  /** Throws if the route does not serve the model. */
  refuseModel?(model: Model): void;
}

/** The id to run under. */
interface AcceptedFirst extends AcceptedInput {
  predictionId: string;
  /** To be checked again if admission takes long. */
  holdsKey(): Promise<boolean>;
}

/** The first request is accepted, and may have ended. */
interface AcceptedBefore {
  predictionId: string;
  model: Model;
  /** This request has waited before for one without an answer, and now has to answer. */
  isLast: boolean;
}

/** The answers of a route. The input is disposed of when either has ended. */
interface Answers<Answer> {
  /** Throws KeyTakenOver if another request has become the first before its admission. */
  first(accepted: AcceptedFirst): Promise<Answer>;
  /** Undefined if the first request ended without a stored answer: then this one may be the first. */
  repeat(accepted: AcceptedBefore): Promise<Answer | undefined>;
}

/**
 * Accepts the body of a request with an Idempotency-Key. A repeat gets the answer of the first request, so later
 * changes do not refuse it: model, access, input schema, funds, limits, deleted files. Only the first is checked for
 * them, in the same order as without a key.
 */
export async function acceptOnce<Answer>(
  deps: ModelApiDeps,
  request: FastifyRequest<OfModel>,
  { presented, caller, route, signal, refuseModel }: Asking,
  answers: Answers<Answer>,
): Promise<Answer> {
  const { owner, model: name } = request.params;
  const scope = scopeOf(caller);
  const modelName = `${owner}/${name}`;
  const mayBeRepeat = once(
    async () => isIdempotencyKey(presented) && deps.predictions.mayBeRepeat({ ...scope, modelName, key: presented }),
  );
  const resolveForFirst = async () => {
    const callable = await deps.models.resolveForCall(caller, owner, name);
    refuseModel?.(callable);
    return callable;
  };
  const model = await resolveForFirst().catch(async (refusal) => {
    const present = await deps.models.resolveForRun(caller, owner, name, mayBeRepeat);
    if (!present || !(await mayBeRepeat())) throw refusal;
    return present;
  });
  const asked = { caller, model, route };
  // An invalid body is not a repeat, and is refused like a first request.
  const look: Predictions["look"] = async (looked) => {
    await resolveForFirst();
    return deps.predictions.look(looked);
  };
  const { key, held } = await countWrongInput(look, asked, async () => {
    const checked = checkIdempotencyKey(presented);
    if (hasLongBody(request) && !(await mayBeRepeat())) await deps.predictions.look({ ...asked, counts: false });
    const extras = extrasOf(route);
    return {
      key: checked,
      held: await deps.predictions.receiveForm({ model, extras, readForm: formOf(request), mayBeRepeat, signal }),
    };
  });
  const { fingerprint } = held;
  const start = () =>
    countWrongInput(look, asked, () =>
      deps.predictions.startIdempotent({ ...scope, modelName, route, key, fingerprint, signal }),
    );
  const accept = async () => {
    const present = unlessChanged(model, await resolveForFirst());
    return acceptInput(deps, request, { ...asked, model: present, signal, held });
  };
  return answerHeld(held, start, {
    accept,
    first: answers.first,
    repeat: (started) => answers.repeat({ ...started, model }),
  });
}

interface HeldAnswers<Answer> {
  accept(): Promise<AcceptedInput>;
  first(accepted: AcceptedFirst): Promise<Answer>;
  repeat(started: Omit<AcceptedBefore, "model">): Promise<Answer | undefined>;
}

/** Repeats until it is clear which of several requests is the first: after a long upload another may be. */
async function answerHeld<Answer>(
  held: ReceivedForm,
  start: () => Promise<IdempotentStart>,
  { accept, first, repeat }: HeldAnswers<Answer>,
): Promise<Answer> {
  let accepted: AcceptedInput | undefined;
  let isUsed = false;
  let isLast = false;
  try {
    for (;;) {
      const started = await start();
      if (started.kind === "repeat") {
        const answer = await repeat({ predictionId: started.predictionId, isLast });
        if (answer !== undefined) return answer;
        isLast = true;
        continue;
      }
      try {
        // The files went with the first attempt, and the request that took over has no answer.
        if (isUsed)
          throw fault(
            "service_unavailable",
            "Another request with this Idempotency-Key failed. Send the request again.",
          );
        accepted ??= await accept();
        if (!(await started.holdsKey())) continue;
        isUsed = true;
        return await first({ ...started, ...accepted });
      } catch (error) {
        await started.refused();
        if (!(error instanceof KeyTakenOver)) throw error;
      }
    }
  } finally {
    await accepted?.input.dispose();
    await held.dispose();
  }
}

function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined;
  return () => {
    asked ??= ask();
    return asked;
  };
}
