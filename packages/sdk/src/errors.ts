/** An answer that was no success. `type` is the machine-readable category where the service gave one. */
export class GantryError extends Error {
  readonly status: number;
  readonly type: string | undefined;
  readonly retryable: boolean;
  readonly requestId: string | undefined;
  readonly body: unknown;

  constructor(init: {
    status: number;
    type: string | undefined;
    message: string;
    retryable: boolean;
    requestId: string | undefined;
    body: unknown;
  }) {
    super(init.message);
    this.name = "GantryError";
    this.status = init.status;
    this.type = init.type;
    this.retryable = init.retryable;
    this.requestId = init.requestId;
    this.body = init.body;
  }
}

interface AnyErrorBody {
  detail?: string | { msg?: string; type?: string; loc?: (string | number)[] }[];
  type?: string;
  error?: { code?: string; type?: string; message?: string };
}

/** Reads the three forms in which errors come. */
export function errorFrom(response: Response, body: unknown): GantryError {
  const { detail, type, error } = Object(body) as AnyErrorBody;
  const first = Array.isArray(detail) ? detail[0] : undefined;
  const messages = Array.isArray(detail)
    ? detail.map((one) => `${one.loc?.join(".") ?? "body"}: ${one.msg ?? ""}`).join("; ")
    : (detail ?? error?.message ?? `HTTP ${response.status}`);
  return new GantryError({
    status: response.status,
    type: first?.type ?? error?.type ?? error?.code ?? type,
    message: messages,
    retryable: response.headers.get("x-service-retryable") === "true",
    requestId: response.headers.get("x-request-id") ?? undefined,
    body,
  });
}
