import type { Readable } from 'node:stream';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import type { AskPlugin } from '../../admission/plugin.ts';
import type { KnownDocuments } from '../../aggregation/known-documents.ts';
import type { GroupResource } from '../../api/names.ts';
import { AuditRecord } from '../../audit/audit-event.ts';
import type { AuditSink } from '../../audit/sink.ts';
import type { TokenAuthenticator } from '../../authn/token.ts';
import type { Authorizer } from '../../authz/authorizer.ts';
import type { WebhookConfig } from '../../authz/config/webhook-config.ts';
import type { HealthCheck } from '../../diagnostics/health-pages.ts';
import type { RunningTurns } from '../../flow-control/dumps.ts';
import type { FlowControl } from '../../flow-control/flow-control.ts';
import type { HistoryWork } from '../../history/large-work.ts';
import { ConnectionShares } from '../../http/connection-shares.ts';
import type { DrainPlan } from '../../http/connections.ts';
import type { MetricFamily } from '../../observability/instruments.ts';
import type { Logger } from '../../observability/logger.ts';
import type { SharedDocuments } from '../../outbound/shared-documents.ts';
import type { ApiRequest } from '../../request/api-request.ts';
import type { ApiResponse } from '../../request/api-response.ts';
import { errorForms } from '../../storage/error-forms.ts';
import type { Peers } from '../../storage/peers.ts';
import type { SigningKeyStore } from '../../storage/signing-keys.ts';
import type { LogHearing, LogService } from '../../storage/threads/log-contract.ts';
import { LogHost } from '../../storage/threads/log-host.ts';
import { aborted } from '../../util/pause.ts';
import { PortCalls } from '../../util/port-calls.ts';
import type { SharedFlowControl } from '../flow-control.ts';
import type { Services } from '../services.ts';
import type { HostedDatabase } from '../storage.ts';
import { ThreadTurns } from './remote-flow-control.ts';
import { ThreadWork } from './remote-history-work.ts';
import type {
  AnsweredPage,
  AskedPage,
  ServerService,
  ThreadHearing,
  ThreadStart,
} from './thread-contract.ts';
import { answerPage, isProfile, noThread, threadOf } from './thread-pages.ts';
import { ThreadPulse } from './thread-pulse.ts';

/** What all serving threads share of the main thread. */
interface SharedParts {
  /** The databases that are open. */
  readonly hosted: () => readonly HostedDatabase[];
  readonly hostedOf: (resource: GroupResource) => Promise<HostedDatabase>;
  readonly flowControl: FlowControl | undefined;
  readonly sharedFlow: SharedFlowControl;
  readonly historyWork: HistoryWork;
  readonly signingKeys: SigningKeyStore;
  readonly peers: () => ReturnType<Peers['renew']>;
  readonly remoteApis: Pick<KnownDocuments, 'states' | 'onChange'>;
  /** Undefined: there is no token webhook. */
  readonly tokenWebhook: TokenAuthenticator | undefined;
  readonly documents: Pick<SharedDocuments, 'get'>;
  readonly webhookOf: (config: WebhookConfig) => Authorizer;
  readonly auditSink: AuditSink | undefined;
  readonly askPlugin: AskPlugin;
  readonly pages: (request: ApiRequest) => Promise<ApiResponse | undefined>;
}

interface ServingThreadsOptions {
  readonly count: number;
  /** The module that a thread runs. */
  readonly entry: string;
  readonly start: Pick<ThreadStart, 'args' | 'port' | 'serving' | 'clientCaFiles' | 'serviceAccountKeyFile'>;
  readonly shared: SharedParts;
  readonly logger: Logger;
}

type ServerCalls = PortCalls<ServerService, ThreadHearing>;

interface Running {
  readonly number: number;
  readonly worker: Worker;
  readonly calls: ServerCalls;
  readonly pulse: ThreadPulse;
}

/** The serving threads, each a service that is started again when it ends or hangs. */
export class ServingThreads {
  readonly #options: ServingThreadsOptions;
  readonly #connectionMemory: SharedArrayBuffer;
  readonly #running = new Map<number, Running>();
  /** Undefined: as on the command line. */
  #verbosity: number | undefined;
  #isDraining = false;
  #restarts = 0;

  constructor(options: ServingThreadsOptions) {
    this.#options = options;
    this.#connectionMemory = ConnectionShares.allocate(options.count);
  }

  /** Resolves when all of them serve. @throws Error of a thread that could not start */
  async begin(services: Services): Promise<void> {
    const first = Array.from({ length: this.#options.count }, (_, at) => {
      const serves = Promise.withResolvers<void>();
      services.start(`serving-thread-${at + 1}`, 'upkeep', async (signal) => {
        await this.#run(at + 1, signal, serves.resolve).catch((error: unknown) => {
          serves.reject(error);
          if (!this.#isDraining) this.#restarts += 1;
          throw error;
        });
      });
      serves.promise.catch(() => {});
      return serves.promise;
    });
    await services.until(Promise.all(first));
  }

  /** Those that serve now. */
  get count(): number {
    return this.#running.size;
  }

  get restarts(): number {
    return this.#restarts;
  }

  /** A missing thread is a note, because the others have its share of connections; a silent one has connections that it does not serve. */
  checks(): HealthCheck[] {
    const running = (): Running[] => [...this.#running.values()];
    return [
      {
        name: 'serving-threads',
        endpoints: ['healthz', 'livez'],
        check: () => {
          for (const { pulse } of running()) pulse.assertAlive();
        },
      },
      {
        name: 'serving-threads-readiness',
        endpoints: ['readyz'],
        check: async () => {
          if (this.count === 0) throw new Error('no thread serves');
          await Promise.all(running().map(({ pulse }) => pulse.assertReady()));
        },
        note: () =>
          this.count < this.#options.count
            ? `${this.count} of ${this.#options.count} threads serve`
            : undefined,
      },
    ];
  }

  /** The metrics of all threads but this one. A thread that does not answer is left out. */
  async families(): Promise<readonly (readonly MetricFamily[])[]> {
    const asked = [...this.#running.values()].map(({ calls }) =>
      calls.call('families', undefined).catch(() => []),
    );
    return Promise.all(asked);
  }

  /** Requests that have seats of threads other than this one. */
  async running(asked: { readonly details: boolean }): Promise<readonly RunningTurns[]> {
    const answers = [...this.#running.values()].map(({ calls }) =>
      calls.call('running', asked).catch(() => []),
    );
    return (await Promise.all(answers)).flat();
  }

  /** Resolves when all of them write as much. Those that replace them do so from their start. */
  async setVerbosity(level: number): Promise<void> {
    this.#verbosity = level;
    await Promise.all(
      [...this.#running.values()].map(({ calls }) => calls.call('setVerbosity', level).catch(() => {})),
    );
  }

  heapSnapshot(thread: number): Promise<Readable> | undefined {
    return this.#running.get(thread)?.worker.getHeapSnapshot();
  }

  async drain(plan: DrainPlan): Promise<void> {
    this.#isDraining = true;
    await Promise.all(
      [...this.#running.values()].map(({ calls }) => calls.call('drain', plan).catch(() => {})),
    );
  }

  /** Runs one thread until it ends. @throws Error that says why */
  async #run(number: number, signal: AbortSignal, onServing: () => void): Promise<void> {
    if (this.#isDraining) return aborted(signal);
    const { shared } = this.#options;
    const { worker, life } = this.#startWorker(number);
    const over = new AbortController();
    const hangs = Promise.withResolvers<never>();
    life.onServing(() => {
      if (this.#verbosity !== undefined) life.calls.tell('setVerbosity', this.#verbosity);
      const pulse = new ThreadPulse(`thread ${number}`, () => life.calls.call('trouble', undefined));
      this.#running.set(number, { number, worker, calls: life.calls, pulse });
      pulse.watch(over.signal).catch(hangs.reject);
      onServing();
    });
    life.onPage(async (asked) => (isProfile(asked.path) ? this.profile(asked) : undefined));
    const ended = new Promise<never>((_, reject) => {
      worker.once('error', reject);
      worker.once('exit', (code) => reject(new Error(`it ended with code ${code}`)));
    });
    try {
      await Promise.race([ended, hangs.promise, aborted(signal)]);
    } finally {
      this.#running.delete(number);
      over.abort();
      life.end();
      ended.catch(() => {});
      await worker.terminate();
      shared.sharedFlow.threadEnded(number);
      ConnectionShares.forget(this.#connectionMemory, number - 1);
    }
  }

  #startWorker(number: number): { readonly worker: Worker; readonly life: ThreadLife } {
    const { start, shared, entry } = this.#options;
    const server = new MessageChannel();
    const logs = shared.hosted().map((hosted) => ({ hosted, channel: new MessageChannel() }));
    const databases = logs.map(({ hosted: { id, resources }, channel }) => ({
      ...{ id, resources },
      log: channel.port2,
    }));
    const workerData: ThreadStart = {
      ...{ ...start, number, databases },
      ...{ server: server.port2, flowMemory: shared.sharedFlow.memory },
      connectionMemory: this.#connectionMemory,
    };
    const worker = new Worker(entry, {
      workerData,
      transferList: [server.port2, ...databases.map(({ log }) => log)],
      name: `serving ${number}`,
    });
    const life = new ThreadLife(this.#options, server.port1);
    for (const { hosted, channel } of logs) life.host(hosted, channel.port1);
    return { worker, life };
  }

  /** A profile of the thread that the page names; undefined: it names none or the main one, or has no such profile. */
  async profile(asked: AskedPage): Promise<AnsweredPage | undefined> {
    const number = threadOf(new URLSearchParams(asked.query)) ?? 0;
    if (number === 0) return undefined;
    return this.#running.get(number)?.calls.call('page', asked) ?? noThread(number);
  }
}

/** A log as one thread has it. */
interface HostedThread {
  readonly host: LogHost;
  readonly calls: PortCalls<LogService, LogHearing>;
  readonly port: MessagePort;
}

/** What the main thread keeps for one serving thread. */
class ThreadLife {
  readonly calls: ServerCalls;
  readonly #turns: ThreadTurns;
  readonly #work: ThreadWork;
  readonly #logger: Logger;
  readonly #server: MessagePort;
  readonly #logs: HostedThread[] = [];
  readonly #unfollow: (() => void)[] = [];
  #isOver = false;
  #onServing: () => void = () => {};
  #onPage: (asked: AskedPage) => Promise<AnsweredPage | undefined> = async () => undefined;

  constructor({ shared, logger }: Pick<ServingThreadsOptions, 'shared' | 'logger'>, server: MessagePort) {
    this.#logger = logger;
    this.#server = server;
    this.#turns = new ThreadTurns(shared.flowControl);
    this.#work = new ThreadWork(shared.historyWork);
    this.calls = new PortCalls({
      ...{ port: server, answers: this.#answers(shared), errors: errorForms, onError: this.#onError },
    });
    this.#unfollow.push(shared.sharedFlow.follow((told) => this.calls.tell('configureFlow', told)));
  }

  /** Serves a log to the thread, over a port of its own. */
  host(hosted: HostedDatabase, port: MessagePort): void {
    if (this.#isOver) {
      port.close();
      return;
    }
    const host = new LogHost(hosted, () => calls);
    const calls = new PortCalls<LogService, LogHearing>({
      ...{ port, answers: host.answers, errors: errorForms, onError: this.#onError },
    });
    this.#logs.push({ host, calls, port });
  }

  readonly #onError = (error: unknown): void => this.#logger.error('a serving thread', error);

  onServing(listener: () => void): void {
    this.#onServing = listener;
  }

  onPage(listener: (asked: AskedPage) => Promise<AnsweredPage | undefined>): void {
    this.#onPage = listener;
  }

  end(): void {
    const gone = new Error('the serving thread has ended');
    this.calls.end(gone);
    this.#isOver = true;
    for (const unfollow of this.#unfollow) unfollow();
    this.#turns.end();
    this.#work.end();
    this.#server.close();
    for (const { host, calls, port } of this.#logs) {
      calls.end(gone);
      host.end();
      port.close();
    }
  }

  #answers(shared: SharedParts): ServerService {
    const turns = this.#turns;
    const work = this.#work;
    return {
      serves: () => this.#onServing(),
      page: async (asked, caller) => (await this.#onPage(asked)) ?? answerPage(shared.pages, asked, caller),
      beginTurn: (asked, caller) => turns.begin(asked, caller),
      turnInitialized: (turn) => turns.initialized(turn),
      turnEnded: (turn) => turns.ended(turn),
      enterWork: (kind, caller) => work.enter(kind, caller),
      leaveWork: (place) => work.leave(place),
      seatsFreed: (slot) => shared.sharedFlow.freed(slot),
      token: async ({ token, audiences }) => shared.tokenWebhook?.authenticate(token, audiences),
      document: (named) => shared.documents.get(named),
      verdict: async ({ config, attributes }, { signal }) =>
        shared.webhookOf(config).authorize({ ...attributes, signal }),
      audit: (records) =>
        shared.auditSink?.process(records.map(({ event, bodies }) => new AuditRecord(event, bodies))) ?? true,
      askPlugin: ({ part, argument }, { signal }) => shared.askPlugin(part, argument, signal),
      signingKeys: () => shared.signingKeys.list(),
      peers: () => shared.peers(),
      remoteDocuments: () => {
        const { remoteApis } = shared;
        const tell = (): void => this.calls.tell('remoteDocuments', remoteApis.states);
        this.#unfollow.push(remoteApis.onChange(tell));
        return remoteApis.states;
      },
      openMoved: async ({ resource, log }) => {
        const hosted = await shared.hostedOf(resource);
        this.host(hosted, log);
        return hosted.id;
      },
    };
  }
}
