/** Values that a span can carry. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** What work inside a span may add to it. */
export interface ActiveSpan {
  set(attributes: SpanAttributes): void;
}

/** Spans: a request, its verb, its commit, each inside the one it was begun in. */
export interface Tracing {
  /** `traceparent` is the caller's (W3C Trace Context, section 3.2); what is not one begins a trace of its own. */
  request<T>(span: RequestSpan, work: (span: ActiveSpan) => Promise<T>): Promise<T>;
  /** A part of what is under way. Outside a sampled request it costs nothing. */
  part<T>(name: string, attributes: SpanAttributes, work: () => Promise<T>): Promise<T>;
  /** Sends what is left. Never rejects. */
  close(): Promise<void>;
}

export interface RequestSpan {
  readonly name: string;
  readonly traceparent: string | undefined;
  readonly attributes: SpanAttributes;
}

const NOWHERE: ActiveSpan = { set: () => {} };

export const NO_TRACING: Tracing = {
  request: (_span, work) => work(NOWHERE),
  part: (_name, _attributes, work) => work(),
  close: async () => {},
};
