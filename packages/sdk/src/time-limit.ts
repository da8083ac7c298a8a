interface Dispatcher {
  compose(interceptor: (dispatch: Dispatch) => Dispatch): Dispatcher;
}

type Dispatch = (options: object, handler: object) => boolean;

/** The global dispatcher of Node's fetch; all versions support this symbol. */
const ofNode = Symbol.for("undici.globalDispatcher.1");

/**
 * Node's fetch times out if a response has not started after five minutes, and a model may take longer. Returns options
 * for `fetch`: Node's dispatcher, including a configured proxy, without that limit; nothing on other platforms.
 */
export function withoutTimeLimit(): object {
  const present = (globalThis as { [ofNode]?: Partial<Dispatcher> })[ofNode];
  const dispatcher = present?.compose?.(
    (dispatch) => (options, handler) => dispatch({ ...options, headersTimeout: 0 }, handler),
  );
  return dispatcher ? { dispatcher } : {};
}
