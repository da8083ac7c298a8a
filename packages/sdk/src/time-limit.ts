interface Dispatcher {
  compose(interceptor: (dispatch: Dispatch) => Dispatch): Dispatcher;
}

type Dispatch = (options: object, handler: object) => boolean;

/** Where Node keeps what its fetch sends with. Every version takes this one, also where a later one has another beside it. */
const ofNode = Symbol.for("undici.globalDispatcher.1");

/**
 * Node's fetch gives up on an answer that has not begun after five minutes, and a model may take longer than that. What
 * this adds to a request is Node's own way of sending, with a proxy that was set, without that limit; nothing on other
 * platforms, whose types do not know of it either.
 */
export function withoutTimeLimit(): object {
  const present = (globalThis as { [ofNode]?: Partial<Dispatcher> })[ofNode];
  const dispatcher = present?.compose?.(
    (dispatch) => (options, handler) => dispatch({ ...options, headersTimeout: 0 }, handler),
  );
  return dispatcher ? { dispatcher } : {};
}
