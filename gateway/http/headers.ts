/** Owns which of a request's headers are kept, and how those that come several times are read. Whoever calls has the request in hand: it is gone after its tick. */

/** What reading them needs of the server's request; names are in lower case. */
interface HeaderSource {
  /** Empty: absent. */
  getHeader(name: string): string;
  forEach(tell: (name: string, value: string) => void): void;
}

/** Header values as sent; empty where a header is absent. */
export interface RequestHeaders {
  readonly authorization: string;
  readonly cookie: string;
  readonly host: string;
  readonly traceparent: string;
  readonly origin: string;
  readonly contentType: string;
  readonly contentEncoding: string;
  readonly accept: string;
  readonly idempotencyKey: string;
  readonly ifMatch: string;
  readonly ifNoneMatch: string;
  /** `Last-Event-ID`, of requests that say that they take a stream of events. */
  readonly lastEventId: string;
  /** `Access-Control-Request-Method`: the request is a browser's preflight for this method. */
  readonly preflightFor: string;
}

/** Each header costs a native call: reads copy only what they can use. */
export const readHeaders = (req: HeaderSource, method: string): RequestHeaders => {
  const accept = req.getHeader("accept");
  const reading = method === "GET" || method === "HEAD";
  return {
    authorization: req.getHeader("authorization"),
    cookie: req.getHeader("cookie"),
    host: req.getHeader("host"),
    traceparent: req.getHeader("traceparent"),
    origin: req.getHeader("origin"),
    accept,
    contentType: reading ? "" : req.getHeader("content-type"),
    contentEncoding: reading ? "" : req.getHeader("content-encoding"),
    idempotencyKey: reading ? "" : req.getHeader("idempotency-key"),
    ifMatch: reading ? "" : req.getHeader("if-match"),
    ifNoneMatch: reading ? req.getHeader("if-none-match") : "",
    lastEventId: reading && accept.includes("text/event-stream") ? req.getHeader("last-event-id") : "",
    preflightFor: method === "OPTIONS" ? req.getHeader("access-control-request-method") : "",
  };
};

/** Several values of one are joined by a comma and a blank (RFC 9110 §5.3). */
export const everyHeader = (req: HeaderSource): Record<string, string> => {
  const headers = new Map<string, string>();
  req.forEach((name, value) => {
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  });
  return Object.fromEntries(headers);
};

const valuesOf = (req: HeaderSource, header: string): string[] => {
  const values: string[] = [];
  req.forEach((name, value) => {
    if (name === header) values.push(value);
  });
  return values;
};

/** All of them: some proxies add a header of their own below the client's, and `getHeader` would give the client's. */
export const forwardedFor = (req: HeaderSource): string => valuesOf(req, "x-forwarded-for").join(",");

/** RFC 9112 §6.3: differing lengths are refused. The server below takes the first and leaves it at that. */
export const saysTwoLengths = (req: HeaderSource): boolean =>
  new Set(valuesOf(req, "content-length")).size > 1;
