/** The same response, with failures of its body converted by `whyBroken`. */
export function tellingBody(response: Response, whyBroken: (thrown: unknown) => unknown): Response {
  if (!response.body) return response;
  let reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined;
  // Keeps the response alive, and reads only when the caller reads: the platform closes connections of unreferenced
  // responses.
  const read = async () => {
    reader ??= response.body?.getReader();
    return (await reader?.read()) ?? { done: true, value: undefined };
  };
  const body = new ReadableStream({
    type: "bytes",
    async pull(controller) {
      const { done, value } = await read().catch((thrown) => Promise.reject(whyBroken(thrown)));
      if (!done) return controller.enqueue(value);
      controller.close();
      // Returns the caller's own buffer.
      controller.byobRequest?.respond(0);
    },
    cancel: (reason) => (reader ?? response.body)?.cancel(reason),
  });
  const { status, statusText, headers, url } = response;
  // A constructed Response has no url, so it is set here; a clone() has an empty one.
  return Object.defineProperty(new Response(body, { status, statusText, headers }), "url", { value: url });
}
