type Field =
  | { link: true; isOptional?: true }
  | { type: "STRING" | "INT" | "FLOAT"; min?: number; max?: number }
  | { options: readonly string[] }
  | { file: true };

/** Some of ComfyUI's nodes, with the fields that it checks. */
export interface NodeClass {
  fields: Readonly<Record<string, Field>>;
  /** Makes an output node: the list of its files, and their extension. */
  saves?: { list: string; extension: string; type: "output" | "temp" };
  shows?: "text";
}

const link: Field = { link: true };
const maximum64 = 2 ** 64;
const sides: Field = { type: "INT", min: 16, max: 16384 };

export const nodeClasses: Readonly<Record<string, NodeClass>> = {
  CheckpointLoaderSimple: { fields: { ckpt_name: { options: ["sd_xl_base_1.0.safetensors", "v1-5.ckpt"] } } },
  CLIPTextEncode: { fields: { text: { type: "STRING" }, clip: link } },
  EmptyLatentImage: { fields: { width: sides, height: sides, batch_size: { type: "INT", min: 1, max: 4096 } } },
  KSampler: {
    fields: {
      model: link,
      seed: { type: "INT", min: 0, max: maximum64 },
      steps: { type: "INT", min: 1, max: 10000 },
      cfg: { type: "FLOAT", min: 0, max: 100 },
      positive: link,
      negative: link,
      latent_image: link,
    },
  },
  VAEDecode: { fields: { samples: link, vae: link } },
  VAEEncode: { fields: { pixels: link, vae: link } },
  LoadImage: { fields: { image: { file: true } } },
  LoadImageMask: { fields: { image: { file: true }, channel: { options: ["alpha", "red", "green", "blue"] } } },
  SaveImage: {
    fields: { images: link, filename_prefix: { type: "STRING" } },
    saves: { list: "images", extension: "png", type: "output" },
  },
  PreviewImage: { fields: { images: link }, saves: { list: "images", extension: "png", type: "temp" } },
  VHS_VideoCombine: {
    fields: { images: link, frame_rate: { type: "FLOAT", min: 1 } },
    saves: { list: "gifs", extension: "mp4", type: "output" },
  },
  SaveAudio: { fields: { audio: link }, saves: { list: "audio", extension: "flac", type: "output" } },
  PreviewAny: { fields: { source: link }, shows: "text" },
};

export type Nodes = Record<string, { class_type: string; inputs: Record<string, unknown> }>;

interface NodeErrors {
  errors: unknown[];
  dependent_outputs: string[];
  class_type: string;
}

export type Validation =
  | { status: 400; body: { error: unknown; node_errors: Record<string, NodeErrors> } }
  | { status: 200; outputs: string[]; nodeErrors: Record<string, NodeErrors> };

const isLink = (value: unknown): value is [string, number] =>
  Array.isArray(value) && value.length === 2 && typeof value[0] === "string" && typeof value[1] === "number";

/** As `validate_prompt` does: output nodes whose inputs are wrong are left out; without any output it is a 400. */
export function validate(nodes: Nodes, files: ReadonlySet<string>): Validation {
  const refused = (type: string, message: string, details: string): Validation => ({
    status: 400,
    body: { error: { type, message, details, extra_info: {} }, node_errors: {} },
  });
  for (const [id, node] of Object.entries(nodes)) {
    if (!nodeClasses[node.class_type]) {
      const message = `Cannot execute because node ${node.class_type} does not exist.`;
      return refused("invalid_prompt", message, `Node ID '#${id}'`);
    }
  }
  const isOutput = (id: string) => {
    const found = nodeClasses[nodes[id]?.class_type ?? ""];
    return found?.saves !== undefined || found?.shows !== undefined;
  };
  const outputs = Object.keys(nodes).filter(isOutput);
  if (outputs.length === 0) return refused("prompt_no_outputs", "Prompt has no outputs", "");
  const nodeErrors: Record<string, NodeErrors> = {};
  const good = outputs.filter((output) => {
    const wrong = upstreamOf(nodes, output).filter((id) => errorsOf(nodes, id, files).length > 0);
    for (const id of wrong) {
      const class_type = nodes[id]?.class_type ?? "";
      nodeErrors[id] ??= { errors: errorsOf(nodes, id, files), dependent_outputs: [], class_type };
      nodeErrors[id].dependent_outputs.push(output);
    }
    return wrong.length === 0;
  });
  if (good.length > 0) return { status: 200, outputs: good, nodeErrors };
  const error = {
    type: "prompt_outputs_failed_validation",
    message: "Prompt outputs failed validation",
    details: "Value not in list: /srv/models/private",
    extra_info: {},
  };
  return { status: 400, body: { error, node_errors: nodeErrors } };
}

export function upstreamOf(nodes: Nodes, id: string, seen = new Set<string>()): string[] {
  if (seen.has(id)) return [];
  seen.add(id);
  const links = Object.values(nodes[id]?.inputs ?? {}).filter(isLink);
  return [id, ...links.flatMap(([from]) => upstreamOf(nodes, from, seen))];
}

function errorsOf(nodes: Nodes, id: string, files: ReadonlySet<string>): unknown[] {
  const { class_type = "", inputs = {} } = nodes[id] ?? {};
  return Object.entries(nodeClasses[class_type]?.fields ?? {}).flatMap(([name, field]) => {
    const wrong = (type: string, details: string, config?: unknown) => [
      {
        type,
        message: type,
        details,
        extra_info: { input_name: name, ...(config !== undefined && { input_config: config }) },
      },
    ];
    if (!Object.hasOwn(inputs, name)) return wrong("required_input_missing", name);
    const given = inputs[name];
    const value = typeof given === "object" && given !== null && "__value__" in given ? given.__value__ : given;
    if (isLink(value)) return [];
    if ("file" in field) {
      return files.has(String(value))
        ? []
        : wrong("custom_validation_failed", `${name} - Invalid image file: ${value}`);
    }
    if ("options" in field) {
      const isKnown = field.options.includes(String(value));
      return isKnown
        ? []
        : wrong("value_not_in_list", `${name}: '${value}' not in ${field.options}`, [field.options, {}]);
    }
    if ("link" in field || field.type === "STRING") return [];
    const number = Number(value);
    const config = [field.type, { min: field.min, max: field.max }];
    if (Number.isNaN(number)) return wrong("invalid_input_type", `${name}, ${value}`, config);
    if (field.min !== undefined && number < field.min) return wrong("value_smaller_than_min", name, config);
    // 2^64 - 1 is not a JavaScript number; ComfyUI knows the difference.
    if (field.max !== undefined && (number > field.max || number === 2 ** 64)) {
      return wrong("value_bigger_than_max", name, config);
    }
    return [];
  });
}
