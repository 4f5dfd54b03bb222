import { availableParallelism } from 'node:os';
import { RE2JS } from 're2js';
import type { Http2Options } from '../http/http-server.ts';
import { errorText } from '../util/error-text.ts';
import { proxyClientFlags } from './admission.ts';
import { ipAddress, notNegative, positive } from './checks.ts';
import type { CommandLine } from './command-line.ts';
import type { FeatureGates } from './feature-gates.ts';
import { bool, duration, float, int, list, text, UsageError } from './flag.ts';
import { processFlags } from './process.ts';

export const listenerFlags = {
  advertiseAddress: text('advertise-address', {
    default: '',
    meaning:
      "IP advertised to cluster members; must be reachable; when blank the bind address is used, and when that is unspecified the host's default interface",
    check: ipAddress,
  }),
  bindAddress: text('bind-address', {
    default: '0.0.0.0',
    meaning:
      'IP to listen on for the secure port; blank or unspecified address (0.0.0.0 or ::) means all interfaces and families',
    check: ipAddress,
  }),
  securePort: int('secure-port', {
    default: 6443,
    meaning:
      'HTTPS port with authentication and authorization; cannot be switched off: 0 is any free port, which --ready-file names',
    check: listenerPort,
  }),
  certDir: text('cert-dir', {
    default: '',
    meaning:
      'directory for TLS certificates, made when missing; ignored when the certificate and key files are given; when not set, the folder certificates of --data-dir, because a laptop has no /var/run/kubernetes to write to',
  }),
  externalHostname: text('external-hostname', {
    default: '',
    meaning: 'host name used for externalized URLs (API docs, discovery)',
  }),
  permitAddressSharing: bool('permit-address-sharing', {
    default: false,
    meaning: 'use SO_REUSEADDR when binding; the runtime always does',
  }),
  sharesPort: bool('permit-port-sharing', { default: false, meaning: 'use SO_REUSEPORT when binding' }),
  disablesHttp2: bool('disable-http2-serving', { default: false, meaning: 'disable HTTP/2' }),
  http2MaxStreams: int('http2-max-streams-per-connection', {
    default: 0,
    meaning: 'streams limit given to clients; 0 uses the runtime default',
    check: streamLimit,
  }),
  goawayChance: float('goaway-chance', {
    default: 0,
    meaning:
      'fraction of requests sent an HTTP/2 GOAWAY; range 0 to 0.02; 0.001 suggested; not for single-server clusters or setups without a load balancer',
    check: goawayChance,
  }),
  corsAllowedOrigins: list('cors-allowed-origins', {
    default: [],
    meaning: 'allowed origins (may be regular expressions, anchored to the whole host); empty means CORS off',
    check: origins,
  }),
  strictTransportSecurity: list('strict-transport-security-directives', {
    default: [],
    meaning: 'HSTS directives; empty means none are added',
    check: directives,
  }),
  enableAggregatorRouting: bool('enable-aggregator-routing', {
    default: false,
    meaning: 'route aggregator requests to endpoint IPs rather than the cluster IP',
  }),
  sandboxProxiedPages: bool('sandbox-proxied-pages', {
    default: true,
    meaning:
      'browsers give pages of pods, services, nodes and other API servers an origin of their own; false for pages that need cookies or storage of this one; such a page may act for the user who views it',
  }),
  aggregatorRejectForwardingRedirect: bool('aggregator-reject-forwarding-redirect', {
    default: true,
    meaning: 'the aggregator rejects a forwarded redirect response',
  }),
};

export const threadFlags = {
  threads: int('serving-threads', {
    default: 0,
    meaning:
      'threads that serve requests, each with a listener on the secure port (SO_REUSEPORT): one more thread then follows the database and commits the writes of all; 1 serves in that thread itself; 0 stands for the number of cores less one, at least 1 and at most 8, and with --warm-start for 1; of the 16 calls of a conversion webhook that may be under way, and the 1000 that may wait, each thread has an equal part, rounded up',
    check: threadCount,
  }),
};

export const consoleFlags = {
  console: bool('console', {
    default: true,
    meaning:
      'serve the console, a web page that shows the cluster and its history, at /console/; everybody may load the page, which shows what its user may read',
  }),
};

export const profilingFlags = {
  profiling: bool('profiling', { default: true, meaning: 'profiling through host:port/debug/pprof/' }),
  contentionProfiling: bool('contention-profiling', {
    default: false,
    meaning: 'block profiling when profiling is on',
  }),
  debugSocketPath: text('debug-socket-path', {
    default: '',
    meaning:
      'unprotected unix-domain socket for profiling; ?thread=1 asks the first serving thread, as it does below /debug/pprof/',
  }),
};

export const logPageFlags = {
  servesLogs: bool('enable-logs-handler', {
    default: false,
    meaning: 'serve the files of /var/log, read only, under /logs/; deprecated in Kubernetes',
  }),
};

export const lifecycleFlags = {
  leaseReuseMs: int('lease-reuse-duration-seconds', {
    default: 60,
    meaning:
      'how long each lease is reused: events that are written within this time, at most 5% of --event-ttl, end together',
    check: (seconds, flag) => notNegative(seconds, flag) * 1000,
  }),
  livezGraceMs: duration('livez-grace-period', {
    meaning: 'time allowed for start-up; /livez assumes unfinished post-start hooks succeed during it',
  }),
  shutdownDelayMs: duration('shutdown-delay-duration', {
    meaning:
      'delay before termination; server keeps serving; /healthz and /livez succeed while /readyz fails',
  }),
  shutdownSendRetryAfter: bool('shutdown-send-retry-after', {
    default: false,
    meaning:
      'keep listening until non-long-running requests drain; meanwhile reject new ones with 429, Retry-After and Connection: close',
  }),
  refusesUntilReady: bool('send-retry-after-while-not-ready-once', {
    default: false,
    since: 32,
    meaning:
      'reject requests with 503 and Retry-After until the server has been ready once; health is answered nonetheless',
  }),
  watchTerminationGraceMs: duration('shutdown-watch-termination-grace-period', {
    meaning: 'longest wait for active watches to drain at shutdown',
  }),
};

export const electionFlags = {
  leaseMs: duration('coordinated-leadership-lease-duration', {
    default: '15s',
    since: 33,
    meaning: 'time after which another server elects the holders of coordinated leases',
    check: positive,
  }),
  deadlineMs: duration('coordinated-leadership-renew-deadline', {
    default: '10s',
    since: 33,
    meaning: 'time without a renewal after which a server stops electing',
    check: positive,
  }),
  roundMs: duration('coordinated-leadership-retry-period', {
    default: '2s',
    since: 33,
    meaning: 'interval at which servers try to get or keep the lease of elections',
    check: positive,
  }),
};

export const peerFlags = {
  advertiseIp: text('peer-advertise-ip', {
    default: '',
    meaning:
      'IP at which other servers of the cluster reach this one, to hand it requests for versions that they do not serve; needs the gate UnknownVersionInteroperabilityProxy; when blank, the advertised address',
    check: ipAddress,
  }),
  advertisePort: text('peer-advertise-port', {
    default: '',
    meaning: 'port beside --peer-advertise-ip; when blank, the secure port',
    check: portOrNone,
  }),
  caFile: text('peer-ca-file', {
    default: '',
    meaning:
      "authorities of the serving certificates of the cluster's servers, which must be for kubernetes.default.svc; needs the gate UnknownVersionInteroperabilityProxy; when blank, those that the host trusts",
  }),
};

/** The server's addresses, pages and shutdown. Times are in milliseconds. */
export type ServingOptions = ReturnType<typeof readServing>;

/** @throws UsageError */
export function readServing(line: CommandLine, gates: FeatureGates) {
  const { disablesHttp2, http2MaxStreams, goawayChance, ...listener } = line.valuesOf(listenerFlags);
  const { profiling, contentionProfiling, debugSocketPath } = line.valuesOf(profilingFlags);
  const http2: Http2Options = {
    disabled: disablesHttp2,
    maxStreams: http2MaxStreams,
    goawayChance,
    closesUnauthenticated: gates.isEnabled('UnauthenticatedHTTP2DOSMitigation'),
  };
  return Object.freeze({
    ...listener,
    ...readThreads(line),
    http2,
    compresses: gates.isEnabled('APIResponseCompression'),
    profiling,
    contentionProfiling: profiling && contentionProfiling,
    debugSocketPath,
    ...line.valuesOf(consoleFlags),
    ...line.valuesOf(logPageFlags),
    ...line.valuesOf(lifecycleFlags),
    elections: readElections(line),
    peers: readPeers(line, gates),
  });
}

/** The rules of client-go's leader election. */
function readElections(line: CommandLine) {
  const times = line.valuesOf(electionFlags);
  const { leaseMs, deadlineMs, roundMs } = electionFlags;
  if (times.leaseMs <= times.deadlineMs)
    throw new UsageError(`${leaseMs.shown} must be more than ${deadlineMs.shown}`);
  if (times.deadlineMs <= 1.2 * times.roundMs)
    throw new UsageError(`${deadlineMs.shown} must be more than 1.2 times ${roundMs.shown}`);
  return times;
}

/**
 * Undefined: servers do not hand requests to each other. In versions whose gate is on by default they do so once they have
 * credentials for each other.
 */
function readPeers(line: CommandLine, gates: FeatureGates) {
  const peers = line.valuesOf(peerFlags);
  const isMeant = gates.isGiven(PEERS_GATE) || line.valueOf(proxyClientFlags.certFile) !== '';
  if (gates.isEnabled(PEERS_GATE)) return isMeant ? peers : undefined;
  for (const [name, { shown }] of Object.entries(peerFlags))
    if (Object.entries(peers).some(([given, value]) => given === name && value !== ''))
      throw new UsageError(`${shown}: requires the feature gate ${PEERS_GATE} to be turned on`);
  return undefined;
}

const PEERS_GATE = 'UnknownVersionInteroperabilityProxy';

/** '' for none. */
function portOrNone(value: string, flag: string): string {
  if (value === '' || (/^\d{1,5}$/.test(value) && Number(value) >= 1 && Number(value) <= 65_535))
    return value;
  throw new UsageError(`${flag}: ${JSON.stringify(value)} is not a port between 1 and 65535`);
}

function listenerPort(port: number, flag: string): number {
  if (port >= 0 && port <= 65_535) return port;
  throw new UsageError(`${flag}: ${port} must be between 1 and 65535, or 0 for any free port`);
}

const MOST_THREADS = 64;
const MOST_UNASKED_THREADS = 8;

function threadCount(threads: number, flag: string): number {
  if (threads >= 0 && threads <= MOST_THREADS) return threads;
  throw new UsageError(`${flag}: ${threads} must be between 0 and ${MOST_THREADS}`);
}

/** One core is left for the thread that follows the database. `cores`: those that the process may use. */
export const threadsFor = (cores: number): number => Math.min(Math.max(cores - 1, 1), MOST_UNASKED_THREADS);

function readThreads(line: CommandLine): { readonly threads: number; readonly choosesThreads: boolean } {
  const asked = line.valueOf(threadFlags.threads);
  if (asked > 0) return { threads: asked, choosesThreads: false };
  // A cluster for tests starts quickly and stays small.
  const threads = line.valueOf(processFlags.startsWarm) ? 1 : threadsFor(availableParallelism());
  return { threads, choosesThreads: true };
}

/** The setting has 32 bits (RFC 9113, section 6.5.1). */
const MOST_STREAMS = 2 ** 32 - 1;

function streamLimit(streams: number, flag: string): number {
  if (notNegative(streams, flag) <= MOST_STREAMS) return streams;
  throw new UsageError(`${flag}: ${streams} must be at most ${MOST_STREAMS}`);
}

function goawayChance(chance: number, flag: string): number {
  if (chance >= 0 && chance <= 0.02) return chance;
  throw new UsageError(`${flag}: ${chance} must be between 0 and 0.02`);
}

/** A pattern that is not pinned to both ends of the host lets evil-example.com in where example.com was meant. */
function origins(given: readonly string[], flag: string): readonly string[] {
  for (const origin of given) {
    const wrong = (why: string): UsageError => new UsageError(`${flag}: ${JSON.stringify(origin)} ${why}`);
    if (origin === '') throw wrong('is empty');
    try {
      RE2JS.compile(origin);
    } catch (error) {
      throw wrong(`is no regular expression: ${errorText(error)}`);
    }
    if (!/\^|\/\//.test(origin) || !/[$:]/.test(origin.replace(/:\/\//g, '')))
      throw wrong('must be pinned to the start (^ or //) and the end ($ or :) of the host');
  }
  return given;
}

/** Checks directives by RFC 6797, section 6.1. Returns the header's value. */
function directives(given: readonly string[], flag: string): string {
  const wrong = given.find((directive) => !/^(max-age=\d+|includeSubDomains|preload)$/.test(directive));
  if (wrong === undefined) return given.join('; ');
  throw new UsageError(
    `${flag}: ${JSON.stringify(wrong)} must be max-age=<seconds>, includeSubDomains or preload`,
  );
}
