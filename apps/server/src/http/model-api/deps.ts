import type { PathParams } from "@gantry/wire/operations";
import type { Caller } from "../../features/accounts/index.ts";
import type { Files } from "../../features/files/index.ts";
import type { Model, Models } from "../../features/models/index.ts";
import type {
  FormReader,
  ReceivedForm,
  Predictions,
  ReadModelInput,
  StoredOutput,
} from "../../features/predictions/index.ts";
import type { Log } from "../../kernel/log.ts";

export interface ModelApiDeps {
  log: Log;
  models: Models;
  predictions: Predictions;
  files: Files;
  /** Download links of the files in an output, by field. */
  linksOf(predictionId: string, output: StoredOutput, base: string): Promise<Record<string, unknown>>;
  /** Holds the body of a request that may be a repeat; see features/predictions/input. */
  holdForm(request: {
    model: Model;
    extras: { user: boolean; webhook: boolean };
    readForm: FormReader;
    mayBeRepeat(): Promise<boolean>;
    signal: AbortSignal;
  }): Promise<ReceivedForm>;
  readInput: ReadModelInput;
}

/** The handler reads the body as it arrives. */
export const readsBody = { config: { readsBody: true } } as const;

export interface OfModel {
  Params: PathParams<"/{owner}/{model}">;
}
