import { CogFault, type CogServer } from "./cog-server.ts";

/** A small model, as Python for a real server and as settings of the scripted one. */
export interface CogPredictor {
  python: string;
  input: Record<string, unknown>;
  required?: string[];
  output: Record<string, unknown>;
  answer(input: Record<string, unknown>): unknown;
}

const uri = { type: "string", format: "uri" };
const text = { type: "string" };
const filesOut = (count: number) =>
  Array.from({ length: count }, (_, n) => `data:image/png;base64,${Buffer.from(`file ${n}`).toString("base64")}`);
const bytesOf = (address: unknown) => Buffer.from(String(address).split(",")[1] ?? "", "base64");
const writing = `
def written(n):
    path = pathlib.Path(tempfile.mkdtemp()) / f"{n}.png"
    path.write_bytes(f"file {n}".encode())
    return Path(str(path))
`;
let runs = 0;

export const cogPredictors = {
  text: {
    python: `class Predictor(BasePredictor):
    def predict(self, prompt: str, seconds: float = 0) -> str:
        time.sleep(seconds)
        return prompt + "!"`,
    input: { prompt: text, seconds: { type: "number", default: 0 } },
    required: ["prompt"],
    output: text,
    answer: ({ prompt }) => `${prompt}!`,
  },
  files: {
    python: `class Predictor(BasePredictor):
    def predict(self, photos: List[Path], one: Path = None) -> str:
        files = list(photos) + ([one] if one else [])
        return " ".join(file.read_bytes().decode() for file in files)`,
    input: { photos: { type: "array", items: uri }, one: uri },
    required: ["photos"],
    output: text,
    answer: ({ photos, one }) =>
      [...(photos as string[]), ...(one ? [one] : [])].map((each) => bytesOf(each)).join(" "),
  },
  list: {
    python: `${writing}
class Predictor(BasePredictor):
    def predict(self, count: int) -> List[Path]:
        return [written(n) for n in range(count)]`,
    input: { count: { type: "integer" } },
    required: ["count"],
    output: { type: "array", items: uri },
    answer: ({ count }) => filesOut(Number(count)),
  },
  iterator: {
    python: `${writing}
class Predictor(BasePredictor):
    def predict(self, count: int) -> Iterator[Path]:
        for n in range(count):
            yield written(n)`,
    input: { count: { type: "integer" } },
    required: ["count"],
    output: { type: "array", items: uri, "x-cog-array-type": "iterator" },
    answer: ({ count }) => filesOut(Number(count)),
  },
  any: {
    python: `class Predictor(BasePredictor):
    def predict(self, how: str) -> Any:
        return {"list": [1, "a"], "number": 5, "object": {"a": [1]}}[how]`,
    input: { how: text },
    required: ["how"],
    output: { title: "Output" },
    answer: ({ how }) => ({ list: [1, "a"], number: 5, object: { a: [1] } })[String(how)],
  },
  counts: {
    python: `class Predictor(BasePredictor):
    def setup(self):
        self.runs = 0
    def predict(self, how: str) -> int:
        self.runs += 1
        if how == "raise":
            raise ValueError("boom")
        return "text" if how == "wrong" else self.runs`,
    input: { how: text },
    required: ["how"],
    output: { type: "integer" },
    answer({ how }) {
      runs++;
      if (how === "raise") return new CogFault(200);
      return how === "wrong" ? new CogFault(500) : runs;
    },
  },
  slow: {
    python: `class Predictor(BasePredictor):
    def setup(self):
        time.sleep(3)
    def predict(self) -> str:
        return "ready"`,
    input: {},
    output: text,
    answer: () => "ready",
  },
  broken: {
    python: `class Predictor(BasePredictor):
    def setup(self):
        raise ValueError("no weights")
    def predict(self) -> str:
        return "never"`,
    input: {},
    output: text,
    answer: () => "never",
  },
} satisfies Record<string, CogPredictor>;

export type CogPredictorName = keyof typeof cogPredictors;

/** Makes the scripted server behave as the predictor. */
export function loadPredictor(cog: CogServer, name: CogPredictorName): void {
  const predictor: CogPredictor = cogPredictors[name];
  const { input: properties, required = [], output } = predictor;
  runs = 0;
  Object.assign(cog, {
    output: predictor.answer,
    required,
    slots: 1,
    health: name === "broken" ? "SETUP_FAILED" : name === "slow" ? "STARTING" : "READY",
    openapi: { components: { schemas: { Input: { type: "object", properties, required }, Output: output } } },
  });
  if (name === "slow") setTimeout(() => Object.assign(cog, { health: "READY" }), 1500);
}
