import type { BackendConfig, Manifest } from "@gantry/wire";
import type { Net } from "../net/net.ts";
import { anthropicUrl, createAnthropic } from "./anthropic/anthropic.ts";
import { createArkImages } from "./ark/images.ts";
import { openAccess, type RevealedSecrets } from "./backend-access.ts";
import type { ChatDriver } from "./chat.ts";
import { createCog } from "./cog/cog.ts";
import { createComfyui } from "./comfyui/comfyui.ts";
import type { ModelDriver } from "./driver.ts";
import { embedByRunning } from "./embedding-driver.ts";
import type { EmbeddingDriver } from "./embeddings.ts";
import { createGantryRemote } from "./gantry/remote.ts";
import { createGoogle, googleUrl } from "./google/google.ts";
import { fillingOutput } from "./media/only-value.ts";
import { createOpenAiChat } from "./openai/chat.ts";
import { createOpenAiEmbeddings } from "./openai/embeddings.ts";
import { createOpenAiImages } from "./openai/images.ts";
import { askingByPrompt } from "./text/prediction.ts";

export interface DriverSources extends RevealedSecrets {
  net: Net;
  /** Large answers are stored here until they are complete. */
  spoolFolder: string;
  /** By `backend.model`. */
  builtins: Readonly<Record<string, ModelDriver>>;
}

/** Addresses of backends whose manifest needs no `url`. */
const vendorUrls: Readonly<Record<string, string>> = { anthropic: anthropicUrl, google: googleUrl };

/** Sizes of Gantry's image models for upstreams that accept only pixels. */
const sizes = { "2k": "2048x2048" };

type AnyDriver = ModelDriver & Partial<ChatDriver> & Partial<EmbeddingDriver>;

/** The driver of one of a model's backends. */
export function createDriver(manifest: Manifest, backend: BackendConfig, sources: DriverSources): AnyDriver {
  const driver = driverOfBackend(manifest, backend, sources);
  return manifest.kind === "embedding" && !driver.embed ? embedByRunning(driver) : driver;
}

function driverOfBackend(
  { input, output, backends = [] }: Manifest,
  backend: BackendConfig,
  sources: DriverSources,
): AnyDriver {
  const url = backend.url ?? vendorUrls[backend.type] ?? "";
  const model = backend.model ?? "";
  const access = openAccess(sources.net, { ...backend, url }, sources);
  // If another backend can answer, it is asked before this one is asked again.
  const tries = backends.length > 1 ? 1 : undefined;
  const text = { ...access, url, model, tries };
  const media = { ...access, url, input, output, spoolFolder: sources.spoolFolder, tries };
  /** For drivers that do not read the manifest's fields themselves. */
  const filled = <Driver extends ModelDriver>(driver: Driver): Driver => ({
    ...driver,
    run: fillingOutput(askingByPrompt(driver.run, input), output),
  });
  switch (backend.type) {
    case "builtin": {
      const builtin = sources.builtins[model];
      if (!builtin) throw new Error(`unknown built-in model ${model}`);
      return filled(builtin);
    }
    case "openai-chat":
      return filled(createOpenAiChat(text));
    case "anthropic":
      return filled(createAnthropic(text));
    case "google":
      return filled(createGoogle(text));
    case "openai-images":
      return createOpenAiImages({ ...media, model, sizes });
    case "openai-embeddings":
      return createOpenAiEmbeddings(text);
    case "ark-images":
      return createArkImages({ ...media, model });
    case "cog":
      return createCog(media);
    case "comfyui":
      return createComfyui({
        ...media,
        workflow: backend.workflow ?? {},
        inputs: backend.inputs ?? {},
        outputs: backend.outputs ?? {},
      });
    case "gantry":
      return createGantryRemote({ ...media, model: backend.model });
    default:
      throw new Error(`unknown backend ${backend.type}`);
  }
}
