import { createHash, randomUUID } from "node:crypto";
import { type Nodes, nodeClasses, upstreamOf, validate } from "./comfyui-nodes.ts";
import { fileReply, type MediaServer } from "./image-servers.ts";
import { readForm } from "./read-form.ts";
import { type Reply, type RequestKind, type Seen, startScripted } from "./scripted-server.ts";

interface Prompt {
  number: number;
  id: string;
  nodes: Nodes;
  extra: Record<string, unknown>;
  outputs: string[];
}

interface Failure {
  event: "execution_error" | "execution_interrupted";
  data: Record<string, unknown>;
}

export interface ComfyServer extends MediaServer {
  /** Before 0.3.45 the server chooses the ids, before 0.3.57 an interrupt stops whatever runs. */
  version: string;
  /** Duration of a run. */
  runMs: number;
  /** Files that each saving node makes. */
  batch: number;
  /** The failure of the next run. */
  failure: Failure | undefined;
  /** Some versions list no output of a node that had nothing to do. */
  listsCached: boolean;
  /** Old versions report neither a status nor times. */
  hasStatus: boolean;
  /** Uploaded files by path. */
  files: Map<string, Buffer>;
  /** The prompts that ran, oldest first. */
  ran: Prompt[];
  interrupted: string[];
  waiting: Prompt[];
  running: Prompt | undefined;
  history: Map<string, unknown>;
  /** A prompt of another client. */
  addForeign(nodes: Nodes): string;
  /** Forgets everything, as a new process does. */
  restart(): void;
}

const kindOf = (method: string, path: string): RequestKind => {
  if (path.startsWith("/view")) return "file";
  return method === "POST" && path === "/prompt" ? "call" : "poll";
};

const atLeast = (version: string, patch: number) => {
  const [major = 0, minor = 0, third = 0] = version.split(".").map(Number);
  return major > 0 || minor > 3 || (minor === 3 && third >= patch);
};

/** As Python writes it: with NaN. */
const pythonReply = (value: unknown, status = 200): Reply => ({
  status,
  headers: { "content-type": "application/json; charset=utf-8" },
  body: JSON.stringify(value).replaceAll('"@NaN"', "NaN"),
});
const empty = (status = 200): Reply => ({ status, headers: { "content-type": "application/octet-stream" }, body: "" });

/** Behaves like ComfyUI: one run at a time, validation of nodes, a cache of nodes, a history of ended prompts. */
export async function startComfyui(key?: string): Promise<ComfyServer> {
  let numbers = 0;
  let saved = 0;
  let life = 0;
  let stopRun: ((failure: Failure) => void) | undefined;
  const cache = new Map<string, unknown>();
  const own = {
    made: { bytes: Buffer.alloc(0), type: "image/png", as: "link" } as MediaServer["made"],
    version: "0.7.0",
    runMs: 0,
    batch: 1,
    failure: undefined as Failure | undefined,
    listsCached: true,
    hasStatus: true,
    files: new Map<string, Buffer>(),
    ran: [] as Prompt[],
    interrupted: [] as string[],
    waiting: [] as Prompt[],
    running: undefined as Prompt | undefined,
    history: new Map<string, unknown>(),
    addForeign(nodes: Nodes) {
      const id = randomUUID();
      put({ number: numbers++, id, nodes, extra: { client_id: "a browser" }, outputs: ["9"] });
      return id;
    },
    restart() {
      life++;
      comfy.waiting.length = 0;
      comfy.running = undefined;
      comfy.history.clear();
      cache.clear();
    },
  };

  function put(prompt: Prompt): void {
    comfy.waiting.push(prompt);
    void work();
  }

  async function work(): Promise<void> {
    const born = life;
    while (comfy.running === undefined && born === life) {
      const prompt = comfy.waiting.shift();
      if (!prompt) return;
      comfy.running = prompt;
      const entry = await execute(prompt);
      if (born !== life) return;
      comfy.running = undefined;
      comfy.history.set(prompt.id, entry);
    }
  }

  async function execute(prompt: Prompt): Promise<unknown> {
    const messages: [string, Record<string, unknown>][] = [];
    const say = (event: string, data: Record<string, unknown> = {}) =>
      messages.push([event, { prompt_id: prompt.id, ...data, timestamp: Date.now() }]);
    say("execution_start");
    const signatures = new Map(prompt.outputs.map((id) => [id, signatureOf(prompt.nodes, id)]));
    const cached = prompt.outputs.filter((id) => cache.has(signatures.get(id) ?? ""));
    say("execution_cached", { nodes: cached });
    const { failure } = comfy;
    comfy.failure = undefined;
    const stopped = await new Promise<Failure | undefined>((resolve) => {
      stopRun = resolve;
      setTimeout(() => resolve(failure), cached.length === prompt.outputs.length ? 0 : comfy.runMs);
    });
    stopRun = undefined;
    comfy.ran.push(prompt);
    const outputs: Record<string, unknown> = {};
    if (stopped) say(stopped.event, stopped.data);
    else {
      for (const id of prompt.outputs) {
        const signature = signatures.get(id) ?? "";
        const isCached = cache.has(signature);
        if (!isCached) cache.set(signature, shownBy(prompt.nodes, id));
        // Without the id of a client nothing is recorded for cached nodes.
        if (!isCached || (comfy.listsCached && prompt.extra.client_id !== undefined))
          outputs[id] = cache.get(signature);
      }
      say("execution_success");
    }
    const status = { status_str: stopped ? "error" : "success", completed: !stopped, messages };
    const { number, id, nodes, extra } = prompt;
    return {
      prompt: [number, id, nodes, { ...extra, create_time: Date.now(), preview: "@NaN" }, prompt.outputs],
      outputs,
      status: comfy.hasStatus ? status : null,
      meta: {},
    };
  }

  function shownBy(nodes: Nodes, id: string): unknown {
    const { saves } = nodeClasses[nodes[id]?.class_type ?? ""] ?? {};
    if (!saves) return { text: ["a boat", "on a lake"] };
    const files = Array.from({ length: comfy.batch }, () => ({
      filename: `ComfyUI_${String(++saved).padStart(5, "0")}_.${saves.extension}`,
      subfolder: saves.type === "temp" ? "" : "a b/c&d",
      type: saves.type,
    }));
    // A video node also saves its first frame.
    const frame = saves.list === "gifs" ? [{ filename: "frame.png", subfolder: "", type: "output" }] : [];
    return { [saves.list]: [...frame, ...files], animated: [saves.list === "gifs"] };
  }

  async function upload(seen: Seen): Promise<Reply> {
    const { fields, files } = await readForm(seen);
    const [image] = files;
    if (image?.field !== "image" || image.filename === "") return empty(400);
    const subfolder = fields.subfolder ?? "";
    const path = subfolder === "" ? image.filename : `${subfolder}/${image.filename}`;
    if (path.includes("..")) return empty(400);
    if (seen.path === "/upload/mask") {
      const original = JSON.parse(fields.original_ref ?? "null") as { filename: string };
      const base = comfy.files.get(original.filename);
      // Without the image nothing is written, but the answer is the same.
      if (base) comfy.files.set(path, Buffer.concat([base, Buffer.from("+"), image.bytes]));
    } else comfy.files.set(path, image.bytes);
    return pythonReply({ name: image.filename, subfolder, type: fields.type ?? "input" });
  }

  function submit(body: Record<string, unknown>): Reply {
    const nodes = body.prompt as Nodes;
    const checked = validate(nodes, new Set(comfy.files.keys()));
    if (checked.status === 400) return pythonReply(checked.body, 400);
    const given = atLeast(comfy.version, 45) && typeof body.prompt_id === "string" ? body.prompt_id : undefined;
    const id = given ?? randomUUID();
    const number = numbers++;
    put({ number, id, nodes, extra: { client_id: body.client_id }, outputs: checked.outputs });
    return pythonReply({ prompt_id: id, number, node_errors: checked.nodeErrors });
  }

  function interrupt({ prompt_id: id }: Record<string, unknown>): Reply {
    const { running } = comfy;
    if (running && (!atLeast(comfy.version, 57) || id === undefined || running.id === id)) {
      comfy.interrupted.push(running.id);
      stopRun?.({ event: "execution_interrupted", data: { node_id: "3", node_type: "KSampler", executed: [] } });
    }
    return empty();
  }

  const itemOf = ({ number, id, nodes, extra, outputs }: Prompt) => [number, id, nodes, extra, outputs];

  const server = await startScripted(async (seen): Promise<Reply> => {
    if (key !== undefined && seen.headers.authorization !== `Bearer ${key}`) return pythonReply({ error: "no" }, 401);
    const [path = "", query = ""] = seen.path.split("?");
    const json = () => JSON.parse(seen.body.toString("utf8")) as Record<string, unknown>;
    const route = `${seen.method} ${path}`;
    if (route === "POST /prompt") return submit(json());
    if (route === "POST /upload/image" || route === "POST /upload/mask") return upload(seen);
    if (route === "POST /interrupt") return interrupt(json());
    if (route === "POST /queue") {
      const doomed = json().delete as string[];
      comfy.waiting = comfy.waiting.filter(({ id }) => !doomed.includes(id));
      return empty();
    }
    if (route === "GET /queue") {
      const running = comfy.running ? [itemOf(comfy.running)] : [];
      return pythonReply({ queue_running: running, queue_pending: comfy.waiting.map(itemOf) });
    }
    if (route === "GET /history") {
      const most = Number(new URLSearchParams(query).get("max_items") ?? 10_000);
      return pythonReply(Object.fromEntries([...comfy.history].slice(-most)));
    }
    if (path.startsWith("/history/")) {
      const id = decodeURIComponent(path.slice("/history/".length));
      return pythonReply(comfy.history.has(id) ? { [id]: comfy.history.get(id) } : {});
    }
    if (route === "GET /system_stats") return pythonReply({ system: { comfyui_version: comfy.version } });
    if (path.startsWith("/object_info/")) {
      const name = decodeURIComponent(path.slice("/object_info/".length));
      const fields = nodeClasses[name]?.fields;
      return pythonReply(fields ? { [name]: { input: { required: declared(fields) } } } : {});
    }
    if (route === "GET /view") {
      return new URLSearchParams(query).get("filename") ? fileReply(comfy.made) : empty(400);
    }
    return empty(404);
  }, kindOf);
  const comfy: ComfyServer = Object.assign(server, own);
  return comfy;
}

function declared(fields: Readonly<Record<string, object>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      if ("options" in field) return [name, [field.options]];
      if ("type" in field) return [name, [field.type, { ...field, type: undefined, tooltip: `The ${name}.` }]];
      return [name, ["file" in field ? [] : "MODEL"]];
    }),
  );
}

function signatureOf(nodes: Nodes, id: string): string {
  const part = upstreamOf(nodes, id).map((node) => [node, nodes[node]?.class_type, nodes[node]?.inputs]);
  return createHash("sha256").update(JSON.stringify(part)).digest("hex");
}
