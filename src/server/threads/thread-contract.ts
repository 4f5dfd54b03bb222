import type { MessagePort } from 'node:worker_threads';
import type { RemoteStates } from '../../aggregation/known-documents.ts';
import type { GroupResource } from '../../api/names.ts';
import type { AuditEvent, EventBodies } from '../../audit/audit-event.ts';
import type { Authentication } from '../../authn/authenticator.ts';
import type { AuthorizationAttributes, Verdict } from '../../authz/authorizer.ts';
import type { WebhookConfig } from '../../authz/config/webhook-config.ts';
import type { RunningTurns } from '../../flow-control/dumps.ts';
import type { Classification, FlowRequest } from '../../flow-control/flow-control.ts';
import type { FlowMemory, ToldConfiguration } from '../../flow-control/priority-and-fairness.ts';
import type { HistoryWork } from '../../history/large-work.ts';
import type { DrainPlan } from '../../http/connections.ts';
import type { PairFiles } from '../../http/serving-tls.ts';
import type { MetricFamily } from '../../observability/instruments.ts';
import type { NamedDocument } from '../../outbound/shared-documents.ts';
import type { ResponseHeaders } from '../../request/api-response.ts';
import type { KnownPeer } from '../../storage/peers.ts';
import type { StoredSigningKey } from '../../storage/signing-keys.ts';
import type { PortCaller } from '../../util/port-calls.ts';

/**
 * Serving in threads (--serving-threads).
 *
 * The main thread keeps what the server has once: databases, the tail, the committer, controllers, leases, the queues of flow control, the
 * caches of webhooks' answers, documents of identity providers and of other API servers, the places of large work on history, audit back
 * ends, metrics, health. With one serving thread it also serves.
 * With several, each of these runs the path of a request, from its listener on the shared port to its own watch cache, and asks the main
 * thread where a thing must be one. The same phases make both: what a thread gets in place of a database is a log over a port (storage/threads/).
 *
 * - The bytes of objects are in memory that all threads see, and the main thread compresses them for all. Each thread has an index of
 *   its own: lists, selectors and watches cost the main thread nothing.
 * - A consistent read asks the main thread for the newest revision, once for all reads that wait, and waits until its own cache has got
 *   there. So it sees what any thread acknowledged before it began.
 * - Seats of flow control are counters in shared memory. A thread takes free ones by itself; only where a level is full, or requests wait
 *   for it, does it ask the main thread.
 * - The kernel deals connections to listeners by chance; a thread with clearly more of them than the others ends some (ConnectionShares).
 * - Writes of all threads meet in one committer: more threads make larger batches, not more of them.
 * - A thread that ends for any reason, or hangs, is replaced: its connections break, its seats are freed, and nothing else changes.
 *
 * Processes in place of threads were rejected: they share neither memory nor a start. So was passing connections from one listener: Node
 * passes sockets to processes alone.
 */

/** What a serving thread begins with. */
export interface ThreadStart {
  /** The command line. */
  readonly args: readonly string[];
  readonly number: number;
  readonly port: number;
  readonly serving: PairFiles;
  readonly clientCaFiles: readonly string[];
  readonly serviceAccountKeyFile: string;
  readonly databases: readonly ThreadDatabase[];
  readonly flowMemory: FlowMemory;
  readonly connectionMemory: SharedArrayBuffer;
  /** For the methods of ServerService and ThreadHearing. */
  readonly server: MessagePort;
}

export interface ThreadDatabase {
  readonly id: string;
  readonly resources: readonly GroupResource[] | undefined;
  /** For the methods of LogService and LogHearing. */
  readonly log: MessagePort;
}

/** A page of the whole server. */
export interface AskedPage {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly accept: string;
  readonly body: Buffer;
}

export interface AnsweredPage {
  readonly code: number;
  readonly contentType: string;
  readonly headers: ResponseHeaders;
  readonly body: Buffer;
}

export type AskedTurn = Pick<FlowRequest, 'user' | 'verb' | 'path' | 'target'> & { readonly query: string };

/** A turn by its number in the thread that asked for it. Undefined: the request is not limited. */
export type AnsweredTurn =
  | { readonly turn: number; readonly classification: Classification | undefined }
  | { readonly retryAfterSeconds: number; readonly classification: Classification | undefined }
  | undefined;

/** What the main thread answers to each serving thread. */
export interface ServerService {
  /** The thread serves. */
  serves(argument: undefined): void;
  /** Undefined: there is no such page. */
  page(asked: AskedPage, caller: PortCaller): Promise<AnsweredPage | undefined>;
  beginTurn(asked: AskedTurn, caller: PortCaller): Promise<AnsweredTurn> | AnsweredTurn;
  turnInitialized(turn: number): void;
  turnEnded(turn: number): void;
  /** Seats of a level are free, for which requests wait. */
  seatsFreed(slot: number): void;
  /** Waits for a place among the large work on history. Returns its number. */
  enterWork(kind: keyof HistoryWork, caller: PortCaller): Promise<number>;
  leaveWork(place: number): void;
  /** Asks the token webhook, or its cache. */
  token(asked: {
    readonly token: string;
    readonly audiences: readonly string[];
  }): Promise<Authentication | undefined>;
  /** Fetches a document of an identity provider. */
  document(asked: NamedDocument): Promise<string>;
  /** Asks an authorization webhook, or its cache. */
  verdict(
    asked: { readonly config: WebhookConfig; readonly attributes: Omit<AuthorizationAttributes, 'signal'> },
    caller: PortCaller,
  ): Promise<Verdict>;
  audit(
    records: readonly { readonly event: AuditEvent; readonly bodies: EventBodies }[],
  ): Promise<boolean> | boolean;
  /** Asks the one part of an admission plugin. */
  askPlugin(asked: { readonly part: string; readonly argument: unknown }, caller: PortCaller): unknown;
  signingKeys(argument: undefined): Promise<readonly StoredSigningKey[]>;
  peers(argument: undefined): Promise<readonly KnownPeer[]>;
  /** Other servers' discovery and OpenAPI documents. The thread hears of each change after this answer. */
  remoteDocuments(argument: undefined): RemoteStates;
  /** Connects the thread to the database to which a resource was moved. Returns its ID. */
  openMoved(asked: { readonly resource: GroupResource; readonly log: MessagePort }): Promise<string>;
}

/** What each serving thread answers to the main thread. */
export interface ThreadHearing {
  families(argument: undefined): Promise<readonly MetricFamily[]>;
  /** Returns what does not work; '' when all does. */
  trouble(argument: undefined): Promise<string>;
  setVerbosity(level: number): void;
  configureFlow(configuration: ToldConfiguration): void;
  remoteDocuments(states: RemoteStates): void;
  /** Requests that have seats of this thread. */
  running(asked: { readonly details: boolean }): readonly RunningTurns[];
  /** A profile of this thread. */
  page(asked: AskedPage, caller: PortCaller): Promise<AnsweredPage | undefined>;
  /** Ends requests and the listener. */
  drain(plan: DrainPlan): Promise<void>;
}
