import { AsyncLocalStorage } from 'node:async_hooks';
import { credentials } from '@grpc/grpc-js';
import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-grpc';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { errorText } from '../util/error-text.ts';
import { inTime } from '../util/in-time.ts';
import { type ActiveSpan, NOWHERE, type Tracing } from './tracing.ts';

export interface TracingOptions {
  /** host:port of an OTLP collector that speaks gRPC, or the path of a Unix socket, which leads there. */
  readonly endpoint: string;
  /** For traces that begin here; undefined: none. Traces that callers sample are always continued. */
  readonly samplingRatePerMillion: number | undefined;
  readonly version: string;
  /** For tests, in place of the exporter. */
  readonly processor?: SpanProcessor;
}

/** How long the server waits for a collector when it ends. */
const CLOSE_MS = 2000;

export function createTracing(options: TracingOptions): Tracing {
  const rate = options.samplingRatePerMillion ?? 0;
  const root = rate === 0 ? new AlwaysOffSampler() : new TraceIdRatioBasedSampler(rate / 1_000_000);
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'apiserver', 'service.version': options.version }),
    sampler: new ParentBasedSampler({ root }),
    spanProcessors: [options.processor ?? exportTo(options.endpoint)],
  });
  const tracer = provider.getTracer('pg-apiserver');
  const current = new AsyncLocalStorage<Context>();
  const run = <T>(span: Span, parent: Context, work: (span: ActiveSpan) => Promise<T>): Promise<T> =>
    current.run(trace.setSpan(parent, span), () => finish(span, work));
  return {
    request: ({ name, traceparent, attributes }, work) => {
      const parent = parentOf(traceparent);
      return run(tracer.startSpan(name, { attributes, kind: 1 }, parent), parent, work);
    },
    part: (name, attributes, work) => {
      const parent = current.getStore();
      if (parent === undefined || trace.getSpan(parent)?.isRecording() !== true) return work(NOWHERE);
      return run(tracer.startSpan(name, { attributes }, parent), parent, work);
    },
    close: async () => {
      const closed = provider.shutdown().catch(() => {});
      await inTime(closed, CLOSE_MS, () => {});
    },
  };
}

function exportTo(endpoint: string): SpanProcessor {
  // Only a URL of HTTP says by itself that nothing is encrypted.
  const target = endpoint.startsWith('/')
    ? { url: `unix://${endpoint}`, credentials: credentials.createInsecure() }
    : { url: `http://${endpoint}` };
  return new BatchSpanProcessor({ exporter: new OTLPTraceExporter(target) });
}

async function finish<T>(span: Span, work: (span: ActiveSpan) => Promise<T>): Promise<T> {
  try {
    return await work({
      set: (attributes) => void span.setAttributes(attributes),
      event: (name) => void span.addEvent(name),
      traceparent: span.isRecording() ? toTraceparent(span.spanContext()) : undefined,
    });
  } catch (error) {
    span.setStatus({
      code: SpanStatusCode.ERROR,
      message: errorText(error),
    });
    throw error;
  } finally {
    span.end();
  }
}

const toTraceparent = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;

/** `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`; all zeros are no ids. */
function parentOf(traceparent: string | undefined): Context {
  const match = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(traceparent ?? '');
  const [, traceId = '', spanId = '', flags = ''] = match ?? [];
  if (match === null || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return ROOT_CONTEXT;
  const traceFlags = Number.parseInt(flags, 16) & 1;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}
