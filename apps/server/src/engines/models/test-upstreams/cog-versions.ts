interface Refusal {
  status: number;
  body: unknown;
}

/** How one generation of Cog servers answers. */
export interface CogVersion {
  busy: Refusal;
  /** Before setup has finished. */
  starting: Refusal;
  setupFailed: Refusal;
  /** The `type` of an issue about a required input that was not sent. */
  missing: string;
  /** `none`: 406; `old`: the server ignores the accept header. */
  events: "yes" | "none" | "old";
  /** A prediction blocks every other request until it has ended. */
  blocks: boolean;
  /** Whether answers have `started_at` and `completed_at`. */
  hasTimes: boolean;
}

const alreadyRunning: Refusal = { status: 409, body: { detail: "Already running a prediction" } };
const notFound: Refusal = { status: 404, body: { detail: "Not Found" } };
const notReady: Refusal = { status: 503, body: { error: "Predictor not ready", status: "failed" } };
const atCapacity: Refusal = {
  status: 409,
  body: { error: "At capacity - all prediction slots busy", status: "failed" },
};
const python: CogVersion = {
  busy: alreadyRunning,
  starting: alreadyRunning,
  setupFailed: notFound,
  missing: "value_error.missing",
  events: "old",
  blocks: false,
  hasTimes: true,
};

/** The Python servers as observed; coglet, which streams, as its source says. */
export const cogVersions = {
  "0.8.6": python,
  "0.9.26": { ...python, blocks: true },
  "0.16.12": { ...python, missing: "missing" },
  coglet: {
    busy: atCapacity,
    starting: notReady,
    setupFailed: notReady,
    missing: "value_error.missing",
    events: "yes",
    blocks: false,
    hasTimes: false,
  },
} satisfies Record<string, CogVersion>;

export type CogVersionName = keyof typeof cogVersions;
