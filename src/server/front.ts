import { Hono } from 'hono';
import { toVersion } from '../api/emulation.ts';
import {
  Contention,
  createFlagPages,
  createHealthMetricPages,
  createMetricPages,
  createProfilePages,
  createSnapshotPages,
  type VerbosityControl,
} from '../diagnostics/diagnostic-pages.ts';
import { createHealthPages, type HealthCheck, Startup } from '../diagnostics/health-pages.ts';
import { createLogFilePages } from '../diagnostics/log-files.ts';
import { HeapSampler } from '../diagnostics/profiles.ts';
import { createZPage, flagsPage, statusPage } from '../diagnostics/z-pages.ts';
import type { ConnectionShares } from '../http/connection-shares.ts';
import type { DrainPlan } from '../http/connections.ts';
import { retryLater } from '../http/connections.ts';
import { assertFree, type HttpServer, listen } from '../http/http-server.ts';
import { type PairFiles, ServingTls } from '../http/serving-tls.ts';
import { celInstruments } from '../observability/cel-metrics.ts';
import { HealthMetrics } from '../observability/health-metrics.ts';
import type { MetricFamily } from '../observability/instruments.ts';
import type { LogControl } from '../observability/logger.ts';
import { Metrics } from '../observability/metrics.ts';
import { RequestMetrics } from '../observability/request-metrics.ts';
import type { Tracing } from '../observability/tracing.ts';
import { blameFlag } from '../options/flag.ts';
import type { ServerOptions } from '../options/options.ts';
import { profilingFlags } from '../options/serving.ts';
import { createPages, type Pages, toPageHandler } from '../pages/pages.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import { pause } from '../util/pause.ts';
import { versionInfoOf } from '../version.ts';
import type { Egress } from './egress.ts';
import type { NamedChecks } from './health-checks.ts';
import { type StartupStep, startupChecks } from './startup-checks.ts';
import { createThreadDebugPages, type ThreadsToDebug } from './threads/thread-debug-pages.ts';
import { openTracing } from './trace-export.ts';
import { buildInfo, featureInfo, versionInfo } from './version-metrics.ts';

type FrontFlags = Pick<
  ServerOptions,
  'api' | 'authentication' | 'flags' | 'limits' | 'observability' | 'serving' | 'tls'
>;

interface FrontOptions {
  readonly options: FrontFlags;
  readonly serving: PairFiles;
  /** Authorities of client certificates. */
  readonly clientCaFiles: readonly string[];
  readonly logger: LogControl;
  /** Checks that hold at any time, the start included. */
  readonly checks: NamedChecks;
  readonly egress: Pick<Egress, 'dials'>;
  readonly shares?: ConnectionShares;
  /** Its listener shares the port of the main thread's. */
  readonly isThread?: boolean;
}

/** The serving threads, as the front hands over to them. */
interface ServingThreadsOfServer extends ThreadsToDebug {
  families(): Promise<readonly (readonly MetricFamily[])[]>;
  /** Resolves when all of them write as much. */
  setVerbosity(level: number): Promise<void>;
  drain(plan: DrainPlan): Promise<void>;
}

/**
 * The listener, and everything that shows the state of the server. It opens first, so that probes are answered while the rest
 * starts. It closes after requests have drained and before their services stop.
 */
export class Front {
  readonly metrics: Metrics;
  readonly requestMetrics: RequestMetrics;
  readonly tracing: Tracing;
  readonly startup: Startup<StartupStep>;
  readonly #front: FrontOptions;
  readonly #options: FrontFlags;
  readonly #logger: LogControl;
  readonly #checks: NamedChecks;
  readonly #healthMetrics: HealthMetrics;
  readonly #contention: Contention;
  readonly #heap: HeapSampler;
  /** Shared by the port and the socket, because only one profile is recorded at a time. */
  readonly #debugPages: readonly Hono[];
  readonly #profiles: Hono;
  readonly #stop = new AbortController();
  #pipeline: Pipeline;
  #http: HttpServer | undefined;
  #debugSocket: { close(): Promise<void> } | undefined;
  #threads: ServingThreadsOfServer | undefined;
  #ending = false;

  /** Resolves when the port is open. @throws Error when it, or a certificate, cannot be had */
  static async open(options: FrontOptions): Promise<Front> {
    const front = await Front.prepare(options);
    await front.listen();
    return front;
  }

  /** Makes a front that has no listener yet. */
  static async prepare(options: FrontOptions): Promise<Front> {
    const { observability } = options.options;
    return new Front(options, await openTracing(observability, options.egress.dials.controlplane));
  }

  private constructor(front: FrontOptions, tracing: Tracing) {
    const { options, logger, checks } = front;
    this.#front = front;
    const { serving, observability, limits } = options;
    this.#options = options;
    this.#logger = logger;
    this.#checks = checks;
    this.metrics = new Metrics(observability.metrics);
    this.#healthMetrics = new HealthMetrics(observability.metrics);
    this.metrics.add(buildInfo(versionInfoOf(options.api.emulated)));
    this.metrics.add(featureInfo(options.api));
    if (options.api.emulated >= 33) this.metrics.add(versionInfo(options.api));
    for (const instrument of celInstruments()) this.metrics.add(instrument);
    this.requestMetrics = new RequestMetrics(this.metrics, options.api.emulated);
    this.startup = new Startup(
      startupChecks(limits, options.api.featureGates.isEnabled),
      serving.livezGraceMs,
    );
    this.tracing = tracing;
    this.#contention = new Contention(serving.contentionProfiling);
    this.#heap = new HeapSampler(serving.profiling || serving.debugSocketPath !== '');
    this.#profiles = createProfilePages(this.#contention, this.#heap);
    this.#debugPages = [this.#profiles, createFlagPages(this.#verbosity())];
    this.#pipeline = startingPipeline(this.#health(this.#cacheNotLoaded()), serving.refusesUntilReady);
  }

  get port(): number {
    return this.#http?.port ?? 0;
  }

  /** Health, metrics, profiles: documents like others, which authorization guards. */
  pages(cache: NamedChecks): Pages {
    const { serving, api } = this.#options;
    const { profiling } = serving;
    const pages = createPages()
      .route('/', this.#health(cache))
      .route(
        '/',
        createMetricPages(this.metrics, async () => (await this.#threads?.families()) ?? []),
      );
    if (api.featureGates.isEnabled('ComponentSLIs'))
      pages.route('/', createHealthMetricPages(this.#healthMetrics, profiling));
    pages.route('/', this.logFiles);
    const { isEnabled } = api.featureGates;
    const served = { minor: api.emulated, cbor: isEnabled('CBORServingAndStorage') };
    if (isEnabled('ComponentFlagz')) pages.route('/', createZPage(flagsPage(this.#options.flags), served));
    if (isEnabled('ComponentStatusz')) pages.route('/', createZPage(this.#statusPage(), served));
    if (profiling) for (const some of this.#debugPages) pages.route('/', some);
    return pages;
  }

  /** None without --enable-logs-handler. */
  get logFiles(): Hono {
    return this.#options.serving.servesLogs ? createLogFilePages(LOG_FOLDER) : new Hono();
  }

  /** Profiles of this thread alone. */
  get profiles(): Hono {
    return this.#profiles;
  }

  /**
   * Lets threads serve in place of this listener, which keeps the connections that it has. Resolves when all new ones are the
   * threads': the server is not ready before, because a connection that this listener does not accept any more is reset.
   */
  async handOver(threads: ServingThreadsOfServer): Promise<void> {
    this.#threads = threads;
    await this.#http?.leave();
  }

  #statusPage() {
    const { api } = this.#options;
    const shown = this.examinationPages;
    return statusPage({
      startedAt: new Date(performance.timeOrigin),
      runtime: `node${process.versions.node}`,
      binaryVersion: `${toVersion(api.emulated)}.0`,
      emulated: toVersion(api.emulated),
      paths: ['/healthz', '/livez', '/metrics', '/readyz', '/version', ...shown],
      now: () => new Date(),
    });
  }

  /** Paths of the pages that flags and features add for the examination of the server. Kubernetes does not list /debug. */
  get examinationPages(): readonly string[] {
    const { serving, api } = this.#options;
    const { isEnabled } = api.featureGates;
    return [
      ...(isEnabled('ComponentFlagz') ? ['/flagz'] : []),
      ...(serving.servesLogs ? ['/logs'] : []),
      ...(isEnabled('ComponentStatusz') ? ['/statusz'] : []),
    ];
  }

  /** Starts serving requests. A thread begins when the server has been ready, and has no start-up of its own. */
  serve(pipeline: Pipeline): void {
    const starting = this.#pipeline;
    const { isThread = false } = this.#front;
    this.#pipeline =
      this.#options.serving.refusesUntilReady && !isThread
        ? onceReady(this.startup, starting, pipeline)
        : pipeline;
  }

  /**
   * Becomes unready at once, keeps serving for the shutdown delay while `leave` sends clients elsewhere, then drains.
   */
  async end(leave: () => Promise<void> = async () => {}): Promise<void> {
    const { serving } = this.#options;
    this.#ending = true;
    this.#logger.info(1, '[graceful-termination] shutdown event', { name: 'ShutdownInitiated' });
    await Promise.all([leave(), pause(serving.shutdownDelayMs)]);
    this.#logger.info(1, '[graceful-termination] shutdown event', { name: 'AfterShutdownDelayDuration' });
    const plan = this.#drainPlan();
    await Promise.all([this.#http?.drain(plan), this.#threads?.drain(plan)]);
    this.#logger.info(1, '[graceful-termination] shutdown event', { name: 'HTTPServerStoppedListening' });
    await this.#close();
    this.#logger.flush();
  }

  /** Ends requests and the listener of a serving thread. */
  async drain(plan: DrainPlan): Promise<void> {
    await this.#http?.drain(plan);
    await this.#close();
    this.#logger.flush();
  }

  #drainPlan(): DrainPlan {
    const { serving, limits } = this.#options;
    return {
      sendRetryAfter: serving.shutdownSendRetryAfter,
      watchGraceMs: serving.watchTerminationGraceMs,
      requestGraceMs: limits.requestTimeoutMs,
    };
  }

  async #close(): Promise<void> {
    this.#stop.abort();
    await this.#debugSocket?.close();
    this.#contention.close();
    this.#heap.close();
    await this.tracing.close();
  }

  /** Ends at once, for a start that failed. Never rejects. */
  async abandon(): Promise<void> {
    this.#stop.abort();
    await this.#http?.drain({ sendRetryAfter: false, watchGraceMs: 0, requestGraceMs: 0 }).catch(() => {});
    await this.#close();
  }

  /** Resolves when the port is open. @throws Error when it, or a certificate, cannot be had */
  async listen(): Promise<void> {
    const { serving: pair, clientCaFiles, shares, isThread = false } = this.#front;
    const { serving, limits, authentication } = this.#options;
    const { frontProxy } = authentication;
    const tls = new ServingTls({
      serving: pair,
      sni: this.#options.tls.sni,
      clientCaFiles: frontProxy === undefined ? clientCaFiles : [...clientCaFiles, frontProxy.caFile],
      settings: this.#options.tls.settings,
      onReload: () => this.#logger.info(1, 'serving certificates were reloaded'),
      onError: (error) => this.#logger.error('serving certificates could not be reloaded', error),
    });
    const sharesPort = serving.sharesPort || serving.threads > 1;
    if (!serving.sharesPort && sharesPort && !isThread)
      await assertFree(serving.bindAddress, serving.securePort);
    this.#http = await listen({
      ...{ tls, sharesPort, shares },
      host: serving.bindAddress,
      port: serving.securePort,
      http2: serving.http2,
      policy: {
        strictTransportSecurity: serving.strictTransportSecurity,
        allowedOrigins: serving.corsAllowedOrigins,
      },
      bytesPerSecond: limits.bytesPerSecond,
      requestTimeoutMs: limits.requestTimeoutMs,
      compresses: serving.compresses,
      pipeline: (request) => this.#pipeline(request),
      onHandshakeError: () => this.requestMetrics.handshakeFailed(),
      logger: this.#logger,
    });
    void tls.run(this.#stop.signal);
    if (serving.debugSocketPath === '' || isThread) return;
    const socketPages = [
      createThreadDebugPages(() => this.#threads),
      ...this.#debugPages,
      createSnapshotPages(),
    ];
    // Few servers have one.
    const { openDebugSocket } = await import('../http/debug-socket.ts');
    this.#debugSocket = await openDebugSocket(serving.debugSocketPath, socketPages, this.#logger).catch(
      (error: unknown) => {
        throw blameFlag(profilingFlags.debugSocketPath.shown, error);
      },
    );
  }

  /** The verbosity of all threads. */
  #verbosity(): VerbosityControl {
    const logger = this.#logger;
    return {
      get verbosity() {
        return logger.verbosity;
      },
      setVerbosity: async (level) => {
        logger.setVerbosity(level);
        await this.#threads?.setVerbosity(level);
      },
    };
  }

  #health(cache: NamedChecks): Hono {
    const onFailure = (name: string, error: unknown): void =>
      this.#logger.info(1, 'a health check failed', { name, error: describe(error) });
    const inOrder = [
      ...this.#checks.kubernetes,
      ...cache.kubernetes,
      ...this.startup.checks(),
      ...this.#checks.own,
      ...cache.own,
      this.#shutdownCheck(),
    ];
    return createHealthPages(inOrder, {
      onFailure,
      onResult: (name, endpoint, isWell) => this.#healthMetrics.observe(name, endpoint, isWell),
    });
  }

  /** Replaces the cache's checks until the cache is loaded. */
  #cacheNotLoaded(): NamedChecks {
    const check = (): void => this.startup.assertFinished('watch-cache');
    return { kubernetes: [{ name: 'informer-sync', endpoints: ['readyz'], check }], own: [] };
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

/** The folder of the log files of a machine, which --enable-logs-handler serves. */
const LOG_FOLDER = '/var/log';

function describe(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? `: ${String(error.cause)}` : '';
  return `${String(error)}${cause}`;
}

/** Health is answered by `starting` until all of the start is done: it is public then. */
export function onceReady(
  startup: Pick<Startup<StartupStep>, 'isComplete'>,
  starting: Pipeline,
  serving: Pipeline,
): Pipeline {
  let isReady = false;
  return (request) => {
    isReady ||= startup.isComplete;
    return isReady ? serving(request) : starting(request);
  };
}

/**
 * Before authentication works: health is public, and every other request is to be sent again later. It gets 429, or with
 * --send-retry-after-while-not-ready-once 503.
 */
function startingPipeline(health: Hono, refusesUntilReady: boolean): Pipeline {
  const pages = toPageHandler(createPages().route('/', health));
  const later = retryLater(
    refusesUntilReady ? 503 : 429,
    "The apiserver hasn't been fully initialized yet, please try again later.",
    1,
  );
  return async (request) => (await pages(request)) ?? later;
}
