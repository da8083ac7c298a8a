/** The same answer, whose body fails with what `whyBroken` makes of its failure. */
export function tellingBody(response: Response, whyBroken: (thrown: unknown) => unknown): Response {
  if (!response.body) return response;
  let reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined;
  // The answer itself is held, and read from only when somebody reads this: the platform closes the connection of one that
  // nobody holds any more, unless it is being read.
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
      // Who brought a buffer of its own gets it back.
      controller.byobRequest?.respond(0);
    },
    cancel: (reason) => (reader ?? response.body)?.cancel(reason),
  });
  const { status, statusText, headers, url } = response;
  // An answer that is made here has no address of its own, so it is put upon it; a clone() of it has none.
  return Object.defineProperty(new Response(body, { status, statusText, headers }), "url", { value: url });
}
