import { isIP } from 'node:net';
import { RE2JS } from 're2js';
import type { Http2Options } from '../http/server.ts';
import type { SniPair, TlsSettings } from '../http/serving-tls.ts';
import type { FeatureGates } from './feature-gates.ts';
import { UsageError } from './flag.ts';
import type { FlagValues } from './parse.ts';
import { readSniPairs, readTlsSettings } from './tls-options.ts';

/** How the server is reached, and how it ends. Times are in milliseconds. */
export interface ServingOptions {
  readonly certDir: string;
  readonly sni: readonly SniPair[];
  readonly tls: TlsSettings;
  readonly sharesPort: boolean;
  readonly http2: Http2Options;
  readonly corsAllowedOrigins: readonly string[];
  /** Joined as the header has it. */
  readonly strictTransportSecurity: string;
  readonly bytesPerSecond: number;
  readonly compresses: boolean;
  readonly advertiseAddress: string;
  readonly externalHostname: string;
  readonly endpointReconciler: 'lease' | 'none';
  /** 0: the API service is of type ClusterIP. */
  readonly serviceNodePort: number;
  readonly serviceRanges: string;
  readonly profiling: boolean;
  readonly contentionProfiling: boolean;
  readonly debugSocketPath: string;
  readonly livezGraceMs: number;
  readonly shutdownDelayMs: number;
  readonly shutdownSendRetryAfter: boolean;
  readonly watchTerminationGraceMs: number;
}

/** @throws UsageError */
export function readServingOptions(flags: FlagValues, gates: FeatureGates): ServingOptions {
  return {
    certDir: flags.string('cert-dir'),
    sni: readSniPairs(flags),
    tls: readTlsSettings(flags),
    sharesPort: flags.bool('permit-port-sharing'),
    http2: readHttp2(flags, gates),
    corsAllowedOrigins: readOrigins(flags),
    strictTransportSecurity: readDirectives(flags),
    bytesPerSecond: atLeastZero(flags, 'max-connection-bytes-per-sec'),
    compresses: gates.isEnabled('APIResponseCompression'),
    advertiseAddress: readAdvertiseAddress(flags),
    externalHostname: flags.string('external-hostname'),
    endpointReconciler: readReconciler(flags),
    serviceNodePort: readPort(flags, 'cluster-service-node-port'),
    serviceRanges: flags.string('service-cluster-ip-range'),
    profiling: flags.bool('profiling'),
    contentionProfiling: flags.bool('profiling') && flags.bool('contention-profiling'),
    debugSocketPath: flags.string('debug-socket-path'),
    livezGraceMs: flags.duration('livez-grace-period'),
    shutdownDelayMs: flags.duration('shutdown-delay-duration'),
    shutdownSendRetryAfter: flags.bool('shutdown-send-retry-after'),
    watchTerminationGraceMs: flags.duration('shutdown-watch-termination-grace-period'),
  };
}

function readHttp2(flags: FlagValues, gates: FeatureGates): Http2Options {
  const goawayChance = flags.number('goaway-chance');
  if (goawayChance < 0 || goawayChance > 0.02)
    throw new UsageError(`--goaway-chance: ${goawayChance} must be between 0 and 0.02`);
  return {
    disabled: flags.bool('disable-http2-serving'),
    maxStreams: atLeastZero(flags, 'http2-max-streams-per-connection'),
    goawayChance,
    closesUnauthenticated: gates.isEnabled('UnauthenticatedHTTP2DOSMitigation'),
  };
}

function atLeastZero(flags: FlagValues, name: string): number {
  const value = flags.number(name);
  if (value < 0) throw new UsageError(`--${name}: ${value} must not be negative`);
  return value;
}

function readPort(flags: FlagValues, name: string): number {
  const port = atLeastZero(flags, name);
  if (port > 65_535) throw new UsageError(`--${name}: ${port} must be at most 65535`);
  return port;
}

function readAdvertiseAddress(flags: FlagValues): string {
  const address = flags.string('advertise-address');
  if (address !== '' && isIP(address) === 0)
    throw new UsageError(`--advertise-address: ${JSON.stringify(address)} is not an IP address`);
  return address;
}

/** master-count counted on a flag that said how many servers there are; a lease knows better and does the same. */
function readReconciler(flags: FlagValues): 'lease' | 'none' {
  const type = flags.string('endpoint-reconciler-type');
  if (type === 'lease' || type === 'none') return type;
  if (type === 'master-count') return 'lease';
  throw new UsageError(
    `--endpoint-reconciler-type: ${JSON.stringify(type)} must be lease, none or master-count (deprecated)`,
  );
}

/** A pattern that is not pinned to both ends of the host lets evil-example.com in where example.com was meant. */
function readOrigins(flags: FlagValues): readonly string[] {
  const origins = flags.strings('cors-allowed-origins');
  for (const origin of origins) {
    const wrong = (why: string): UsageError =>
      new UsageError(`--cors-allowed-origins: ${JSON.stringify(origin)} ${why}`);
    if (origin === '') throw wrong('is empty');
    try {
      RE2JS.compile(origin);
    } catch (error) {
      throw wrong(`is no regular expression: ${error instanceof Error ? error.message : String(error)}`);
    }
    if (!/\^|\/\//.test(origin) || !/[$:]/.test(origin.replace(/:\/\//g, '')))
      throw wrong('must be pinned to the start (^ or //) and the end ($ or :) of the host');
  }
  return origins;
}

/** RFC 6797, section 6.1. */
function readDirectives(flags: FlagValues): string {
  const directives = flags.strings('strict-transport-security-directives');
  for (const directive of directives) {
    if (!/^(max-age=\d+|includeSubDomains|preload)$/.test(directive)) {
      throw new UsageError(
        `--strict-transport-security-directives: ${JSON.stringify(directive)} must be max-age=<seconds>, includeSubDomains or preload`,
      );
    }
  }
  return directives.join('; ');
}
