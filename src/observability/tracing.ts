/** Values that a span can carry. */
type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** Lets work inside a span add to it. */
export interface ActiveSpan {
  set(attributes: SpanAttributes): void;
  /** Something that happened just now. */
  event(name: string): void;
  /** For a request to another server, so that its spans become part of this one. Undefined outside a sampled request. */
  readonly traceparent: string | undefined;
}

/** Spans of a request, its verb and its commit, nested. */
export interface Tracing {
  /** `traceparent` is the caller's (W3C Trace Context, section 3.2); an invalid one begins a new trace. */
  request<T>(span: RequestSpan, work: (span: ActiveSpan) => Promise<T>): Promise<T>;
  /** A span inside the current one. Outside a sampled request it costs nothing. */
  part<T>(name: string, attributes: SpanAttributes, work: (span: ActiveSpan) => Promise<T>): Promise<T>;
  /** Sends the remaining spans. Never rejects. */
  close(): Promise<void>;
}

interface RequestSpan {
  readonly name: string;
  readonly traceparent: string | undefined;
  readonly attributes: SpanAttributes;
}

export const NOWHERE: ActiveSpan = { set: () => {}, event: () => {}, traceparent: undefined };

export const NO_TRACING: Tracing = {
  request: (_span, work) => work(NOWHERE),
  part: (_name, _attributes, work) => work(NOWHERE),
  close: async () => {},
};
