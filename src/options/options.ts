import { isIP } from 'node:net';
import type { IpRange } from '../object/ip.ts';
import { type AdmissionOptions, readAdmission } from './admission-options.ts';
import { ALL_FLAGS } from './all-flags.ts';
import { type AuditOptions, readAuditOptions } from './audit-options.ts';
import { type AuthenticationOptions, readAuthentication } from './authentication.ts';
import { type AuthorizationOptions, allowsEverything, readAuthorization } from './authorization.ts';
import { checkEmulatedVersions, readReportedVersion } from './emulated-version.ts';
import { type FeatureGates, parseFeatureGates } from './feature-gates.ts';
import { UsageError } from './flag.ts';
import { type ObservabilityOptions, readObservabilityOptions } from './observability-options.ts';
import { type FlagValues, parseFlags } from './parse.ts';
import { parseRuntimeConfig, type RuntimeConfig } from './runtime-config.ts';
import { parseClusterIpRanges, parseNodePortRange } from './service-ranges.ts';
import { readServingOptions, type ServingOptions } from './serving-options.ts';

/** What the server is told, checked once at the edge and trusted inside. Times are in milliseconds. */
export interface ServerOptions extends AuthorizationOptions {
  readonly dataDir: string;
  readonly historyWindowMs: number;
  /** Whether the window was given: without it, what the database says stays. */
  readonly setsHistoryWindow: boolean;
  readonly apiDomains: readonly string[];
  readonly bindAddress: string;
  readonly securePort: number;
  readonly tlsCertFile: string;
  readonly tlsKeyFile: string;
  /** Empty: the embedded PostgreSQL. */
  readonly databaseUrls: readonly string[];
  readonly databaseCaFile: string;
  readonly databaseCertFile: string;
  readonly databaseKeyFile: string;
  readonly compactionIntervalMs: number;
  readonly healthTimeoutMs: number;
  readonly readyTimeoutMs: number;
  readonly eventTtlMs: number;
  /** One or two, of different families, the preferred one first. */
  readonly serviceClusterIpRanges: readonly IpRange[];
  readonly serviceNodePortRange: { readonly first: number; readonly last: number };
  readonly clientCaFile: string;
  readonly tokenAuthFile: string;
  readonly anonymousAuth: boolean;
  readonly authentication: AuthenticationOptions;
  readonly requestTimeoutMs: number;
  readonly minRequestTimeoutMs: number;
  readonly deleteCollectionWorkers: number;
  /** Off: no delete waits for dependents. */
  readonly garbageCollector: boolean;
  readonly admission: AdmissionOptions;
  readonly allowPrivileged: boolean;
  /** How long pods stay on nodes that are not ready, or not to be reached, unless they say otherwise. */
  readonly tolerationSeconds: { readonly notReady: number; readonly unreachable: number };
  /** Off: the two limits are separate, and requests above them are refused. */
  readonly priorityAndFairness: boolean;
  readonly maxRequestsInflight: number;
  readonly maxMutatingRequestsInflight: number;
  readonly audit: AuditOptions;
  readonly runtimeConfig: RuntimeConfig;
  readonly featureGates: FeatureGates;
  readonly agentCertificateAuthority: string;
  readonly agentClientCertificate: string;
  readonly agentClientKey: string;
  readonly agentPreferredAddressTypes: readonly string[];
  /** As whom admission webhooks are called. */
  readonly proxyClientCertFile: string;
  readonly proxyClientKeyFile: string;
  readonly agentTimeoutMs: number;
  readonly verbosity: number;
  /** --version=vX.Y.Z; undefined: what it is. */
  readonly reportedVersion: string | undefined;
  readonly serving: ServingOptions;
  readonly observability: ObservabilityOptions;
}

/** @throws UsageError, one line that names the flag */
export function parseOptions(args: readonly string[]): ServerOptions {
  const flags = parseFlags(args, ALL_FLAGS);
  const featureGates = parseFeatureGates(flags.strings('feature-gates'));
  checkEmulatedVersions(flags.strings('emulated-version'));
  const authorization = readAuthorization(flags);
  const options: ServerOptions = {
    dataDir: flags.string('data-dir'),
    historyWindowMs: flags.duration('history-window'),
    setsHistoryWindow: flags.isSet('history-window'),
    apiDomains: flags.strings('api-domains'),
    bindAddress: flags.string('bind-address'),
    securePort: flags.number('secure-port'),
    tlsCertFile: flags.string('tls-cert-file'),
    tlsKeyFile: flags.string('tls-private-key-file'),
    databaseUrls: flags.strings('kvstore-servers'),
    databaseCaFile: flags.string('kvstore-cafile'),
    databaseCertFile: flags.string('kvstore-certfile'),
    databaseKeyFile: flags.string('kvstore-keyfile'),
    compactionIntervalMs: flags.duration('kvstore-compaction-interval'),
    healthTimeoutMs: flags.duration('kvstore-healthcheck-timeout'),
    readyTimeoutMs: flags.duration('kvstore-readycheck-timeout'),
    eventTtlMs: flags.duration('event-ttl'),
    serviceClusterIpRanges: parseClusterIpRanges(flags.string('service-cluster-ip-range')),
    serviceNodePortRange: parseNodePortRange(flags.string('service-node-port-range')),
    clientCaFile: flags.string('client-ca-file'),
    tokenAuthFile: flags.string('token-auth-file'),
    ...authorization,
    // Nobody unknown comes in where everything is allowed (Kubernetes does the same).
    anonymousAuth: flags.bool('anonymous-auth') && !allowsEverything(authorization),
    authentication: readAuthentication(flags, featureGates),
    requestTimeoutMs: flags.duration('request-timeout'),
    minRequestTimeoutMs: flags.number('min-request-timeout') * 1000,
    deleteCollectionWorkers: flags.number('delete-collection-workers'),
    garbageCollector: flags.bool('enable-garbage-collector'),
    admission: readAdmission(flags),
    allowPrivileged: flags.bool('allow-privileged'),
    tolerationSeconds: {
      notReady: flags.number('default-not-ready-toleration-seconds'),
      unreachable: flags.number('default-unreachable-toleration-seconds'),
    },
    priorityAndFairness: flags.bool('enable-priority-and-fairness'),
    maxRequestsInflight: flags.number('max-requests-inflight'),
    maxMutatingRequestsInflight: flags.number('max-mutating-requests-inflight'),
    audit: readAuditOptions(flags),
    runtimeConfig: parseRuntimeConfig(flags.strings('runtime-config')),
    featureGates,
    agentCertificateAuthority: flags.string('agent-certificate-authority'),
    agentClientCertificate: flags.string('agent-client-certificate'),
    agentClientKey: flags.string('agent-client-key'),
    agentPreferredAddressTypes: flags.strings('agent-preferred-address-types'),
    proxyClientCertFile: flags.string('proxy-client-cert-file'),
    proxyClientKeyFile: flags.string('proxy-client-key-file'),
    agentTimeoutMs: flags.duration('agent-timeout'),
    verbosity: flags.number('v'),
    reportedVersion: readReportedVersion(flags.string('version')),
    serving: readServingOptions(flags, featureGates),
    observability: readObservabilityOptions(flags, featureGates),
  };
  check(options, flags);
  return Object.freeze(options);
}

function check(options: ServerOptions, flags: FlagValues): void {
  const { securePort, bindAddress } = options;
  const port = flags.number('secure-port');
  if (port < 1 || port > 65_535)
    throw new UsageError(
      `--secure-port: ${securePort} must be between 1 and 65535, it cannot be turned off with 0`,
    );
  if (bindAddress !== '' && isIP(bindAddress) === 0)
    throw new UsageError(`--bind-address: ${JSON.stringify(bindAddress)} is not an IP address`);
  if ((options.tlsCertFile === '') !== (options.tlsKeyFile === '')) {
    throw new UsageError('--tls-cert-file and --tls-private-key-file belong together: give both or neither');
  }
  if ((options.agentClientCertificate === '') !== (options.agentClientKey === '')) {
    throw new UsageError(
      '--agent-client-certificate and --agent-client-key belong together: give both or neither',
    );
  }
  if ((options.proxyClientCertFile === '') !== (options.proxyClientKeyFile === '')) {
    throw new UsageError(
      '--proxy-client-cert-file and --proxy-client-key-file belong together: give both or neither',
    );
  }
  for (const url of options.databaseUrls) {
    if (!/^postgres(ql)?:\/\//.test(url)) {
      const scheme = /^[a-z][a-z\d+.-]*:\/\//i.exec(url)?.[0];
      // Without one it may be the rest of a password, which is not to be shown.
      const which = scheme === undefined ? 'one of the URLs' : JSON.stringify(`${scheme}…`);
      throw new UsageError(
        `--kvstore-servers: ${which} must begin with postgres://; a comma inside a URL is written %2C`,
      );
    }
  }
  for (const domain of options.apiDomains) {
    if (domain !== 'k8s.io' && domain !== 'cluster.io') {
      throw new UsageError(`--api-domains: ${JSON.stringify(domain)} must be k8s.io or cluster.io`);
    }
  }
  if (options.requestTimeoutMs <= 0) throw new UsageError('--request-timeout must be more than 0');
  if (options.minRequestTimeoutMs <= 0) throw new UsageError('--min-request-timeout must be more than 0');
  if (options.deleteCollectionWorkers < 1)
    throw new UsageError('--delete-collection-workers must be at least 1');
  checkFlowControl(options);
}

function checkFlowControl(options: ServerOptions): void {
  const { maxRequestsInflight, maxMutatingRequestsInflight, priorityAndFairness } = options;
  if (maxRequestsInflight < 0) throw new UsageError('--max-requests-inflight can not be negative value');
  if (maxMutatingRequestsInflight < 0)
    throw new UsageError('--max-mutating-requests-inflight can not be negative value');
  if (priorityAndFairness && maxRequestsInflight + maxMutatingRequestsInflight === 0) {
    throw new UsageError(
      '--max-requests-inflight and --max-mutating-requests-inflight must not both be 0 with --enable-priority-and-fairness: ' +
        'their sum is what is divided',
    );
  }
}
