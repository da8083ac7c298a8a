import { jsonReply, type Reply, type ScriptedServer, type Seen, startScripted } from "./scripted-server.ts";

export interface MediaServer extends ScriptedServer {
  /** Answer of the next predictions. */
  made: { bytes: Buffer; type: string; as: "base64" | "link" };
}

export function fileReply(made: MediaServer["made"]): Reply {
  return { status: 200, headers: { "content-type": made.type }, body: made.bytes };
}

/** Both image protocols have the same answers; their requests and errors differ. */
async function startImages(
  key: string,
  answer: (seen: Seen, image: Record<string, unknown>) => Reply,
): Promise<MediaServer> {
  const made: MediaServer["made"] = { bytes: Buffer.alloc(0), type: "image/png", as: "base64" };
  const server = await startScripted((seen) => {
    if (seen.path.startsWith("/files/")) {
      // A signed link needs no key; a key in this request has leaked.
      return seen.headers.authorization ? jsonReply({ error: "key leaked" }, 400) : fileReply(made);
    }
    if (seen.headers.authorization !== `Bearer ${key}`) return jsonReply({ error: { code: "invalid_api_key" } }, 401);
    const image =
      made.as === "base64"
        ? { b64_json: made.bytes.toString("base64") }
        : { url: `${server.url}/files/made.png?sig=1` };
    return answer(seen, image);
  });
  return Object.assign(server, { made });
}

export function startOpenAiImages(key: string): Promise<MediaServer> {
  return startImages(key, (seen, image) => {
    const isEdit = seen.path === "/v1/images/edits";
    if (!isEdit && seen.path !== "/v1/images/generations") return jsonReply({ error: { code: "not_found" } }, 404);
    const wanted = isEdit ? "multipart/form-data" : "application/json";
    if (!String(seen.headers["content-type"]).startsWith(wanted))
      return jsonReply({ error: { code: "bad_type" } }, 415);
    return jsonReply({
      created: 1_700_000_000,
      data: [{ ...image, revised_prompt: "a boat, at dawn" }],
      usage: {
        input_tokens: 60,
        input_tokens_details: { image_tokens: 40, text_tokens: 20 },
        output_tokens: 1056,
        total_tokens: 1116,
      },
    });
  });
}

export function startArkImages(key: string): Promise<MediaServer> {
  return startImages(key, (seen, image) => {
    if (seen.path !== "/api/v3/images/generations") return jsonReply({ error: { code: "NotFound" } }, 404);
    return jsonReply({
      model: "seedream-4-0-250828",
      created: 1_700_000_000,
      data: [{ ...image, size: "2048x2048" }],
      usage: { generated_images: 1, output_tokens: 16_384, total_tokens: 16_384 },
    });
  });
}
