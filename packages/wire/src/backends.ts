import { z } from "zod";
import { backendFields, checkBackend } from "./backend-schema.ts";
import { tell } from "./field-schema.ts";
import { isRecord } from "./field-value.ts";
import type { ListedBackend, Manifest } from "./manifest.ts";
import { pricingSchema } from "./pricing-schema.ts";

type Fields = Readonly<Record<string, unknown>>;

const mostBackends = 16;

const listedBackend = z
  .strictObject({
    name: z
      .string()
      .regex(/^[a-z0-9][a-z0-9._-]{0,39}$/, "Must have 1 to 40 characters of a-z, 0-9, ., _ and -")
      .optional()
      .describe("Unique in the model, shown in usage and metrics. Default: the type."),
    ...backendFields,
    weight: z.int().min(1).max(1000).default(1).describe("The share of calls among the backends of one priority."),
    priority: z.int().min(0).max(100).default(0).describe("Backends with a lower number are tried first."),
    capacity: z
      .int()
      .min(1)
      .max(100_000)
      .optional()
      .describe("Calls that it runs at once over all nodes. Default: only the model's capacity counts."),
    timeout_seconds: z
      .number()
      .min(1)
      .max(86_400)
      .optional()
      .describe("Seconds until the first byte of an answer. Then another backend is tried."),
    pricing: pricingSchema.optional().describe("Prices of the calls that it answers, instead of the model's."),
  })
  .superRefine(checkBackend, { when: () => true });

export const backendListSchema = z.array(listedBackend).min(1).max(mostBackends);

/** Names the backends that have no name. */
export function withNames(listed: z.infer<typeof backendListSchema>): ListedBackend[] {
  const taken = new Set(listed.map(({ name }) => name));
  return listed.map(({ name, ...rest }) => {
    const own = name ?? freeName(rest.type, taken);
    taken.add(own);
    return { name: own, ...rest } as ListedBackend;
  });
}

function freeName(type: string, taken: ReadonlySet<string | undefined>): string {
  let name = type;
  for (let n = 2; taken.has(name); n++) name = `${type}-${n}`;
  return name;
}

/** Checks across the backends of a manifest. */
export function checkBackends({ backend, backends }: Fields, ctx: z.RefinementCtx<unknown>): void {
  if (backend === undefined && backends === undefined) {
    ctx.addIssue({ code: "invalid_type", expected: "object", path: ["backend"], message: "Field required" });
  } else if (backend !== undefined && backends !== undefined) {
    tell(ctx, ["backends"], "Give either backend or backends");
  }
  const names = new Set<unknown>();
  for (const { backend: one, path } of givenBackends({ backends })) {
    if (one.name !== undefined && names.has(one.name)) tell(ctx, [...path, "name"], "Another backend has this name");
    names.add(one.name);
  }
}

/** The backends of a manifest that is not checked yet, with their paths. */
export function givenBackends({ backend, backends }: Fields): { backend: Fields; path: PropertyKey[] }[] {
  const given = [
    { backend, path: ["backend"] as PropertyKey[] },
    ...(Array.isArray(backends) ? backends.map((one, at) => ({ backend: one, path: ["backends", at] })) : []),
  ];
  return given.flatMap(({ backend: one, path }) => (isRecord(one) ? [{ backend: one, path }] : []));
}

/** A model has at least one. */
type Backends = readonly [ListedBackend, ...ListedBackend[]];

const single = new WeakMap<object, Backends>();

/** The backends of a model, also if its manifest has only one. */
export function backendsOf({ backend, backends }: Pick<Manifest, "backend" | "backends">): Backends {
  if (backends) return backends as unknown as Backends;
  if (!backend) throw new Error("a manifest without a backend");
  const known = single.get(backend);
  if (known) return known;
  const listed: Backends = [{ name: backend.type, weight: 1, priority: 0, ...backend }];
  single.set(backend, listed);
  return listed;
}
