import type { FastifyRequest } from "fastify";
import { type Caller, scopeOf } from "../../features/accounts/index.ts";
import type { Model } from "../../features/models/index.ts";
import {
  checkIdempotencyKey,
  countWrongInput,
  type ReceivedForm,
  type IdempotentStart,
  isIdempotencyKey,
  KeyTakenOver,
  type Predictions,
  type PresentedKey,
} from "../../features/predictions/index.ts";
import { fault } from "../../kernel/errors.ts";
import { type AcceptedInput, acceptInput, extrasOf, formOf, hasLongBody, unlessChanged } from "./accept-input.ts";
import type { ModelApiDeps, OfModel } from "./deps.ts";

interface Asking {
  presented: PresentedKey;
  caller: Caller;
  route: "sync" | "async";
  signal: AbortSignal;
  /** Throws where the route does not serve the model. */
  refuseModel?(model: Model): void;
}

/** To be run under this id. */
interface AcceptedFirst extends AcceptedInput {
  predictionId: string;
  /** To be asked again where its admission is long in coming. */
  holdsKey(): Promise<boolean>;
}

/** The first one is accepted, perhaps ended. */
interface AcceptedBefore {
  predictionId: string;
  model: Model;
  /** It has waited before for one that left no answer: now it answers. */
  isLast: boolean;
}

/** What a route answers with. The input is disposed of when either has ended. */
interface Answers<Answer> {
  /** Throws KeyTakenOver where it found before its admission that it is the first no longer. */
  first(accepted: AcceptedFirst): Promise<Answer>;
  /** Undefined where the first one ended without an answer that is kept: then this one may be the first. */
  repeat(accepted: AcceptedBefore): Promise<Answer | undefined>;
}

/**
 * Accepts the body of a request with an Idempotency-Key. A repeat has the answer of the first one, so nothing refuses it
 * that came about since: what the model is now, who may call it and what it takes, funds, limits, and files that are gone.
 * All of that is for the first alone, and in the order that one without a key is refused in.
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
  // What is wrong is no repeat, and is refused as a first one.
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
      held: await deps.holdForm({ model, extras, readForm: formOf(request), mayBeRepeat, signal }),
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

/** Until it is known which of several with one key is the first: who fetched for long may find that another is by now. */
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
        // Keeping the input for its run took the files along, and who took over has left no answer.
        if (isUsed) throw fault("service_unavailable", "Another request with this Idempotency-Key failed: ask again");
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
