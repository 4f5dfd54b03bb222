import type { Hono } from 'hono';
import { createFlagPages } from '../diagnostics/flag-pages.ts';
import { createHealthPages, type HealthCheck } from '../diagnostics/health.ts';
import { createMetricPages } from '../diagnostics/metric-pages.ts';
import { Contention } from '../diagnostics/pprof/contention.ts';
import { HeapSampler } from '../diagnostics/pprof/heap.ts';
import { createProfilePages, createSnapshotPages } from '../diagnostics/pprof/pages.ts';
import { Startup } from '../diagnostics/startup.ts';
import { openDebugSocket } from '../http/debug-socket.ts';
import { retryLater } from '../http/drain.ts';
import { type HttpServer, listen } from '../http/server.ts';
import { type PairFiles, ServingTls } from '../http/tls/serving-tls.ts';
import type { LogControl } from '../observability/logger.ts';
import { Metrics } from '../observability/metrics.ts';
import { RequestMetrics } from '../observability/request-metrics.ts';
import { NO_TRACING, type Tracing } from '../observability/tracing.ts';
import type { ServerOptions } from '../options/options.ts';
import { createPages, type Pages, toPageHandler } from '../pages/pages.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import { VERSION } from '../version.ts';

export interface FrontOptions {
  readonly options: ServerOptions;
  readonly serving: PairFiles;
  readonly logger: LogControl;
  /** What must be finished before the server is ready. */
  readonly startupSteps: readonly string[];
}

/**
 * The listener and all that shows how the server does: opened first, so that probes are answered while the rest starts, and
 * closed last but one, so that they are answered while it ends.
 */
export class Front {
  readonly metrics: Metrics;
  readonly requestMetrics: RequestMetrics;
  readonly tracing: Tracing;
  readonly startup: Startup;
  readonly #options: ServerOptions;
  readonly #logger: LogControl;
  readonly #contention: Contention;
  readonly #heap: HeapSampler;
  /** The same on the port and on the socket: of profiles one is recorded at a time. */
  readonly #debugPages: readonly Hono[];
  readonly #stop = new AbortController();
  #pipeline: Pipeline;
  #http: HttpServer | undefined;
  #debugSocket: { close(): Promise<void> } | undefined;
  #ending = false;

  /** Resolves when the port is open. @throws Error when it, or a certificate, cannot be had */
  static async open(options: FrontOptions): Promise<Front> {
    const front = new Front(options, await openTracing(options.options));
    await front.#listen(options);
    return front;
  }

  private constructor({ options, logger, startupSteps }: FrontOptions, tracing: Tracing) {
    const { serving, observability } = options;
    this.#options = options;
    this.#logger = logger;
    this.metrics = new Metrics(observability.metrics);
    this.requestMetrics = new RequestMetrics(this.metrics);
    this.startup = new Startup(startupSteps, serving.livezGraceMs);
    this.tracing = tracing;
    this.#contention = new Contention(serving.contentionProfiling);
    this.#heap = new HeapSampler(serving.profiling || serving.debugSocketPath !== '');
    this.#debugPages = [createProfilePages(this.#contention, this.#heap), createFlagPages(logger)];
    this.#pipeline = startingPipeline(createHealthPages(this.startup.checks()));
  }

  get port(): number {
    return this.#http?.port ?? 0;
  }

  /** Health, metrics, profiles: documents like others, for whom authorization lets see them. */
  pages(checks: readonly HealthCheck[]): Pages {
    const { profiling } = this.#options.serving;
    const onFailure = (name: string, error: unknown): void =>
      this.#logger.info(1, 'a health check failed', { name, error: String(error) });
    const all = [...checks, ...this.startup.checks(), this.#shutdownCheck()];
    const pages = createPages()
      .route('/', createHealthPages(all, onFailure))
      .route('/', createMetricPages(this.metrics));
    if (profiling) for (const some of this.#debugPages) pages.route('/', some);
    return pages;
  }

  /** From now on requests are served. */
  serve(pipeline: Pipeline): void {
    this.#pipeline = pipeline;
  }

  /**
   * Unready at once; serves on for --shutdown-delay-duration while `leave` tells others to go elsewhere; then drains.
   */
  async end(leave: () => Promise<void> = async () => {}): Promise<void> {
    const { serving, requestTimeoutMs } = this.#options;
    this.#ending = true;
    this.#logger.info(1, '[graceful-termination] shutdown event', { name: 'ShutdownInitiated' });
    const delay = new Promise((resolve) => setTimeout(resolve, serving.shutdownDelayMs));
    await Promise.all([leave(), delay]);
    this.#logger.info(1, '[graceful-termination] shutdown event', { name: 'AfterShutdownDelayDuration' });
    await this.#http?.drain({
      sendRetryAfter: serving.shutdownSendRetryAfter,
      watchGraceMs: serving.watchTerminationGraceMs,
      requestGraceMs: requestTimeoutMs,
    });
    this.#logger.info(1, '[graceful-termination] shutdown event', { name: 'HTTPServerStoppedListening' });
    this.#stop.abort();
    await this.#debugSocket?.close();
    this.#contention.close();
    this.#heap.close();
    await this.tracing.close();
    this.#logger.flush();
  }

  /** Ends at once, for a start that failed. Never rejects. */
  async abandon(): Promise<void> {
    this.#stop.abort();
    await this.#http?.drain({ sendRetryAfter: false, watchGraceMs: 0, requestGraceMs: 0 }).catch(() => {});
    await this.#debugSocket?.close();
    this.#contention.close();
    this.#heap.close();
  }

  async #listen({ serving: pair }: FrontOptions): Promise<void> {
    const { serving, bindAddress, securePort, requestTimeoutMs } = this.#options;
    const tls = new ServingTls({
      serving: pair,
      sni: serving.sni,
      settings: serving.tls,
      onReload: () => this.#logger.info(1, 'serving certificates were reloaded'),
      onError: (error) => this.#logger.error('serving certificates could not be reloaded', error),
    });
    this.#http = await listen({
      tls,
      host: bindAddress,
      port: securePort,
      sharesPort: serving.sharesPort,
      http2: serving.http2,
      policy: {
        strictTransportSecurity: serving.strictTransportSecurity,
        allowedOrigins: serving.corsAllowedOrigins,
      },
      bytesPerSecond: serving.bytesPerSecond,
      requestTimeoutMs,
      compresses: serving.compresses,
      pipeline: (request) => this.#pipeline(request),
      onHandshakeError: () => this.requestMetrics.handshakeFailed(),
      logger: this.#logger,
    });
    void tls.run(this.#stop.signal);
    if (serving.debugSocketPath === '') return;
    const socketPages = [...this.#debugPages, createSnapshotPages()];
    this.#debugSocket = await openDebugSocket(serving.debugSocketPath, socketPages, this.#logger);
  }

  #shutdownCheck(): HealthCheck {
    return {
      name: 'shutdown',
      endpoints: ['readyz'],
      check: () => {
        if (this.#ending) throw new Error('process is shutting down');
      },
    };
  }
}

/** The exporter takes a quarter of a second to load, which only those pay who trace. */
async function openTracing({ observability }: ServerOptions): Promise<Tracing> {
  if (observability.tracing === undefined) return NO_TRACING;
  const { createTracing } = await import('../observability/otlp-tracing.ts');
  return createTracing({ ...observability.tracing, version: VERSION.gitVersion });
}

/** Before anybody can be authenticated: health is told to everyone, and everything else is to come back. */
function startingPipeline(health: Hono): Pipeline {
  const pages = toPageHandler(createPages().route('/', health));
  const later = retryLater(
    429,
    "The apiserver hasn't been fully initialized yet, please try again later.",
    1,
  );
  return async (request) => (await pages(request)) ?? later;
}
